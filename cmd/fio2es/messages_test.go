package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMessages: the messages in the first column of tables in docs/messages.md are in the program, with … for parts
// that vary.
func TestMessages(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	texts := programTexts(t, root)
	quoted, isMessages := 0, false
	for line := range strings.Lines(readText(t, filepath.Join(root, "docs", "messages.md"))) {
		cells := strings.SplitN(line, "|", 3)
		switch {
		case len(cells) < 3:
			isMessages = false
		case strings.TrimSpace(cells[1]) == "message":
			isMessages = true
		case isMessages && strings.Contains(cells[1], "`"):
			quoted++
			message := strings.Trim(cells[1], " `")
			if !slices.ContainsFunc(texts, func(text string) bool { return hasParts(text, message) }) {
				t.Errorf("no text of the program has %q", message)
			}
		}
	}
	if quoted < 30 {
		t.Errorf("%d messages", quoted)
	}
}

// hasParts reports whether a text has the parts of a message between … in this order.
func hasParts(text, message string) bool {
	for part := range strings.SplitSeq(message, "…") {
		_, after, ok := strings.Cut(text, strings.TrimSpace(part))
		if !ok {
			return false
		}
		text = after
	}
	return true
}

// programTexts returns the constant texts of the program, with … for verbs of formats and for parts that are not
// constant.
func programTexts(t *testing.T, root string) (texts []string) {
	t.Helper()
	verb := regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch e := n.(type) {
			case *ast.BinaryExpr:
				texts = append(texts, verb.ReplaceAllString(constant(e), "…"))
			case *ast.BasicLit:
				texts = append(texts, verb.ReplaceAllString(constant(e), "…"))
			}
			return true
		})
		return nil
	})
	check(t, err)
	return texts
}

// constant returns the text of an expression, with … for each part that is not constant.
func constant(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return constant(e.X) + constant(e.Y)
		}
	}
	return "…"
}
