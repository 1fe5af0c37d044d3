package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamedFiles: the files and folders that the documents for developers name are there.
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
