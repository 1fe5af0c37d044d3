package setup

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
)

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"fio-runs", "fio-runs", true}, {"fio-runs", "fio-run", false}, {"*", "fio-runs", true}, {"*", "", true},
		{"fio*", "fio-latency.host-*", true}, {"*-2026.11", "fio-latency.host-*", true}, {"logs-*", "fio-latency.host-*", false},
		{"f*s", "*runs", true}, {"f*x", "*runs", false}, {"a*b*c", "a-c", false}, {"", "", true}, {"", "a", false},
		{strings.Repeat("*a", 40), strings.Repeat("a*", 40) + "b", false},
	} {
		if got, back := overlap(c.a, c.b), overlap(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %v, %v", c.a, c.b, got, back)
		}
	}
}

// TestOverlapMatches: two patterns overlap if a name matches both. A pattern without stars overlaps exactly the
// patterns that match it.
func TestOverlapMatches(t *testing.T) {
	pattern := rapid.StringMatching(`[ab*]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, name := pattern.Draw(t, "a"), pattern.Draw(t, "b"), rapid.StringMatching(`[ab]{0,8}`).Draw(t, "name")
		inA, _ := path.Match(a, name)
		inB, _ := path.Match(b, name)
		if inA && inB && !overlap(a, b) {
			t.Fatalf("%q matches %q and %q", name, a, b)
		}
		if overlap(a, name) != inA {
			t.Fatalf("%q and %q: %v", a, name, !inA)
		}
	})
}
