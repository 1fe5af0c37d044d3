package archtest

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

const retired = "\n## Retired words\n" // the last heading of the glossary

// retiredWords finds the words in the last table of a glossary in a text, also in camelCase names and across line
// ends.
func retiredWords(glossary, text string) (found []string) {
	_, list, _ := strings.Cut(glossary, retired)
	text, _, _ = strings.Cut(text, retired)
	lower := strings.ToLower(text)
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z, ]+) \| (.+) \|$`).FindAllStringSubmatch(list, -1)[1:] {
		for w := range strings.SplitSeq(row[1], ", ") {
			if !strings.Contains(lower, strings.Fields(w)[0]) {
				continue // true for most files, and much faster than the pattern
			}
			initial, rest := strings.ToUpper(w[:1]), strings.ReplaceAll(w[1:], " ", `\s+(?://\s+)?`)
			word := `(?:\b[` + w[:1] + initial + `]|[A-Za-z]` + initial + `)` + rest + `(?: (?:\S+ ){0,4}apart\b|\b|[A-Z])`
			for _, at := range regexp.MustCompile(word).FindAllStringIndex(text, -1) {
				if !strings.HasSuffix(text[:at[1]], " apart") { // the glossary allows "tell reads and writes apart"
					found = append(found, fmt.Sprintf("%d: %q: %s", 1+strings.Count(text[:at[0]], "\n"), w, row[2]))
				}
			}
		}
	}
	return found
}

// TestPlainWords: code and documents contain no word that the glossary retires. CHANGELOG.md is not checked.
func TestPlainWords(t *testing.T) {
	root := os.DirFS("../..")
	glossary, err := fs.ReadFile(root, "docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	ours := regexp.MustCompile(`\.(go|md|html|css|js|txtar|yml)$|^Makefile$|^\.ci/`)
	exempt := regexp.MustCompile(`^(testdata/corpus/|CHANGELOG\.md|internal/archtest/words_test\.go)`)
	err = fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !ours.MatchString(path) || exempt.MatchString(path) {
			return err
		}
		text, err := fs.ReadFile(root, path)
		for _, word := range retiredWords(string(glossary), string(text)) {
			t.Errorf("%s:%s", path, word)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRetiredWords(t *testing.T) {
	const glossary = retired + "| word | say |\n|---|---|\n| tells, goes on | x |\n| lest | y |\n"
	for text, want := range map[string]string{
		"it tells\nit Tells": `1: "tells": x, 2: "tells": x`, "and goes\n\t// on": `1: "goes on": x`, "smallest TestOld": "",
		"tells a from b apart": "", "tellsAll isTells": `1: "tells": x, 1: "tells": x`, "IDTells": `1: "tells": x`,
		"tellsome": "", "lest": `1: "lest": y`,
	} {
		if got := strings.Join(retiredWords(glossary, text), ", "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
