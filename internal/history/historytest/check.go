package historytest

import (
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
)

// testCheck: a check finds what an interrupted ingest left, and repairs it.
func testCheck(t *testing.T, s history.Store) {
	check := func(repair bool, want ...string) {
		t.Helper()
		var got []string
		checked, err := history.Check(t.Context(), s, repair, func(f history.Finding) {
			got = append(got, f.Run+" "+f.Problem+": "+f.Remedy)
		})
		if err != nil || checked.Runs != 2 {
			t.Fatalf("%+v, %v", checked, err)
		}
		if len(got) != len(want) {
			t.Fatalf("found %q, want %q", got, want)
		}
		for i := range got {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("found %q, want %q", got[i], want[i])
			}
		}
	}
	store(t, s, "a", "1", 10)
	put(t, s, Intervals("a", "2", 3)...)
	put(t, s, Intervals("c", "1", 3)...)
	store(t, s, "b", "1", 7)
	found := map[bool][]string{}
	for _, repair := range []bool{false, true} {
		a, b, c := "versions that are not current", "3 of 10 documents of level cluster: ingest suite:results/b again", "but no run document"
		found[repair] = []string{a, b, c}
		if ID("b") < ID("a") { // runs with the same start are sorted by id
			found[repair] = []string{b, a, c}
		}
		check(repair, found[repair]...)
	}
	for i, text := range found[true] {
		if strings.Contains(text, "3 of 10") {
			check(false, found[true][i])
		}
	}
}
