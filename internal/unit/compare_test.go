package unit

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/testcost"
)

func TestMain(m *testing.M) {
	testcost.Lower()
	m.Run()
}

// TestCompareIsAnOrder checks what sorting relies on.
func TestCompareIsAnOrder(t *testing.T) {
	gen := rapid.StringMatching(`[a0-2/.\-]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := gen.Draw(t, "a"), gen.Draw(t, "b"), gen.Draw(t, "c")
		if (Compare(a, b) == 0) != (a == b) || Compare(a, b) != -Compare(b, a) {
			t.Fatalf("%q and %q", a, b)
		}
		s := []string{a, b, c}
		slices.SortFunc(s, Compare)
		if Compare(s[0], s[2]) > 0 {
			t.Fatalf("not transitive: %q", s)
		}
	})
}

func TestCompare(t *testing.T) {
	want := []string{"a/b", "a.log", "randread 4K qd4", "randread 4K qd16", "randread 64K qd1"}
	got := slices.Sorted(slices.Values(want))
	if slices.SortFunc(got, Compare); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
