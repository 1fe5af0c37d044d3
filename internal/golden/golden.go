// Package golden compares results of tests with files in testdata, and reads compressed ones. With -update ("make
// golden") it writes the files instead. It is only for tests.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// Update reports whether golden files are written instead of compared.
func Update() bool { return *update }

// File compares got with the file at path.
func File(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) { // much faster for large files than making a diff
		t.Errorf("%s differs (-want +got); -update writes it:\n%s", path, cmp.Diff(string(want), got))
	}
}

// Section compares got with the part of a file between two lines.
func Section(t testing.TB, path, begin, end, got string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(text), begin+"\n")
	_, after, hasEnd := strings.Cut(rest, end+"\n")
	if !hasBegin || !hasEnd {
		t.Fatalf("%s does not have the lines %q and %q", path, begin, end)
	}
	File(t, path, before+begin+"\n"+got+end+"\n"+after)
}
