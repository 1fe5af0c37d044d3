package where

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
)

func TestParts(t *testing.T) {
	for text, want := range map[string][]string{
		"":      nil,
		"bs=4k": {"bs=4k"},
		" bs = 4k  and  (qd in (1, 2) or live) and not note ~ 'a and b'": {"bs = 4k", "(qd in (1, 2) or live)", "not note ~ 'a and b'"},
		"bs=4k or qd=1":                    {"(bs=4k or qd=1)"},
		"(bs=4k or qd=1)":                  {"(bs=4k or qd=1)"},
		"(live) or (qd = 1)":               {"((live) or (qd = 1))"},
		"(bs=4k and qd=1)":                 {"bs=4k", "qd=1"},
		"label.ä='x y' AND qd=1 and qd!=2": {"label.ä='x y'", "qd=1", "qd!=2"},
	} {
		c, err := Parse(text, now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range c.Parts() {
			got = append(got, p.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestAll: a run meets a joined condition if it meets each part, and parsing the text of the joined condition gives
// the same.
func TestAll(t *testing.T) {
	texts := []string{"", "qd=1", "qd=1 or bs=4k", "(qd=1) or (bs=4k)", "not (qd=1 and bs=4k)", "qd in (1, 2) and not live", "(bs=4k or qd = 2) and qd<4"}
	rapid.Check(t, func(t *rapid.T) {
		var list []*Condition
		for range rapid.IntRange(0, 3).Draw(t, "number") {
			c, err := Parse(rapid.SampledFrom(texts).Draw(t, "condition"), now)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, c)
		}
		all := All(append(list, nil)...)
		again, err := Parse(all.String(), now)
		if err != nil {
			t.Fatalf("%s: %v", all, err)
		}
		for _, run := range []*mapping.Run{
			{CBT: mapping.CBT{IODepth: 1}}, {CBT: mapping.CBT{IODepth: 2}}, {CBT: mapping.CBT{IODepth: 1, OpSize: 4096}}, {CBT: mapping.CBT{OpSize: 4096}},
		} {
			want := !slices.ContainsFunc(list, func(c *Condition) bool { return !c.Matches(run) })
			if got := all.Matches(run); got != want || again.Matches(run) != want {
				t.Fatalf("%s: %v and %v, want %v of %+v", all, got, again.Matches(run), want, run.CBT)
			}
		}
	})
}
