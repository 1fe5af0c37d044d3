package query

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestGroup(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, c := range []struct {
		args []string
		want [][]string
	}{
		{[]string{a, b}, [][]string{{a, b}}},
		{[]string{a, "0d31", b, "-", "latest", "7c1f"}, [][]string{{a}, {"0d31"}, {b, "-"}, {"latest", "7c1f"}}},
	} {
		if got := Group(c.args, IsPath); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.args, got, c.want)
		}
	}
}

// TestGroupFiles: neighbouring logs are read together; other arguments alone.
func TestGroupFiles(t *testing.T) {
	dir := t.TempDir()
	log := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := log("a.log"), log("b.log")
	for _, c := range []struct {
		args []string
		want [][]string
	}{
		{[]string{a, b}, [][]string{{a, b}}},
		{[]string{dir, a, b, dir, "latest", a}, [][]string{{dir}, {a, b}, {dir}, {"latest"}, {a}}},
		{[]string{"0d31", "latest"}, [][]string{{"0d31", "latest"}}},
		{[]string{"-", a}, [][]string{{"-"}, {a}}},
		{[]string{dir + "/*.log", a}, [][]string{{dir + "/*.log", a}}},
	} {
		if got := Group(c.args, IsFile); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.args, got, c.want)
		}
	}
}
