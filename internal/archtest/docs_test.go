package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNamedFiles: the files and folders named in documents for developers exist.
func TestNamedFiles(t *testing.T) {
	root := filepath.Join("..", "..")
	named := regexp.MustCompile("`((?:cmd|config|docs|hist|internal|kibana|mapping|pipeline)/[A-Za-z0-9_./-]+)`")
	for _, doc := range []string{"CONTRIBUTING.md", "ARCHITECTURE.md"} {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(name[1], "/"))); err != nil {
				t.Errorf("%s names %s: %v", doc, name[1], err)
			}
		}
	}
}

// TestLibraries: ARCHITECTURE.md lists the modules of go.mod, each once with its purpose, and no others.
func TestLibraries(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var required, listed []string
	for _, m := range regexp.MustCompile(`(?m)^\t(?:github\.com/)?(\S+?)(?:/v\d+)? v\S+`).FindAllStringSubmatch(read("go.mod"), -1) {
		required = append(required, m[1])
	}
	_, table, _ := strings.Cut(read("ARCHITECTURE.md"), "| module | for | because | with it come |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		if columns := strings.Split(row, "|"); len(columns) == 6 {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(columns[1]+columns[4], -1) {
				listed = append(listed, m[1])
			}
		}
	}
	slices.Sort(required)
	slices.Sort(listed)
	if len(required) < 40 || !slices.Equal(required, listed) {
		t.Errorf("ARCHITECTURE.md lists\n%v\ngo.mod requires\n%v", listed, required)
	}
}

// TestActionsArePinned: workflows name actions of others by commit, with the version as a comment.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	pinned := regexp.MustCompile(`^(?:\./\S+|[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`uses: (.*)`).FindAllStringSubmatch(string(text), -1) {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s: %s is not pinned", file, m[1])
			}
		}
	}
}
