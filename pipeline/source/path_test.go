package source

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestStem(t *testing.T) {
	for name, want := range map[string]string{
		"x/a.tar.zst": "a", "a.tgz": "a", "a.ZIP": "a", "a": "a", "a.2024.tar.gz": "a.2024", "a.gz": "a",
		".tar.gz": ".tar", ".gz": ".gz", "a.log": "a.log", "x/.zip": ".zip",
	} {
		if got := stem(name); got != want {
			t.Errorf("stem(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestCleanMemberStaysBelow tries all kinds of names.
func TestCleanMemberStaysBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a./\\\x00]{0,12}`).Draw(t, "name")
		got, err := cleanMember(name)
		if err != nil {
			return
		}
		if strings.HasPrefix(got, "/") || strings.HasSuffix(got, "/") || strings.ContainsAny(got, "\\\x00") ||
			slices.Contains(strings.Split(got, "/"), "..") || slices.Contains(strings.Split(got, "/"), ".") {
			t.Fatalf("%q became %q", name, got)
		}
	})
}

// TestScopeForms checks that the final path was among those asked about.
func TestScopeForms(t *testing.T) {
	gen := rapid.SliceOfN(rapid.StringMatching(`[ab]/[ab]/x`), 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		outer := &scope{base: "a"}
		inner := &scope{parent: outer, prefix: "a/b", base: "b"}
		outer.see("a/b.tar", false)
		asked := map[string][]string{}
		names := gen.Draw(t, "names")
		for _, name := range names {
			inner.see(name, false)
			inner.mayBe(name, func(p string) bool { asked[name] = append(asked[name], p); return false })
		}
		outer.see(rapid.SampledFrom([]string{"a/z", "z"}).Draw(t, "last"), false)
		for _, name := range names {
			if p := inner.path(name); !slices.Contains(asked[name], p) {
				t.Fatalf("%q became %q, asked %q", name, p, asked[name])
			}
		}
	})
}

func TestPackedTreesAreTheTruth(t *testing.T) {
	name := rapid.StringMatching(`([a-c]/){0,2}[a-c]{1,3}\.log`)
	rapid.Check(t, func(rt *rapid.T) {
		files := tree(rapid.MapOfN(name, rapid.StringN(0, 2000, -1), 1, 8).Draw(rt, "files"))
		pack := rapid.SampledFrom([]func(tb, []byte) []byte{gz, zst, func(_ tb, b []byte) []byte { return b }}).Draw(rt, "pack")
		set, err := Scan(t.Context(), []string{write(t, t.TempDir(), "q", pack(t, tarOf(t, files)))}, Options{})
		check(rt, err)
		defer set.Close()
		got := contents(rt, set)
		for _, p := range files.names() {
			if got[p] != files[p] {
				rt.Errorf("%s differs", p)
			}
		}
		if cmp.Compare(len(got), len(files)) != 0 {
			rt.Errorf("%d files, want %d", len(got), len(files))
		}
	})
}
