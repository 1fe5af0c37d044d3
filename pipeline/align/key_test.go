package align_test

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

func TestKeyAt(t *testing.T) {
	k := align.Key{Level: align.Job, Host: "a", Job: "1", Direction: fiolog.Trim}
	for _, want := range []align.Key{
		{Level: align.Cluster, Direction: fiolog.Trim},
		{Level: align.Host, Host: "a", Direction: fiolog.Trim},
		k,
	} {
		if got := k.At(want.Level); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestKeyOrder has keys in the order in which windows of one time come.
func TestKeyOrder(t *testing.T) {
	host := func(h string, d fiolog.Direction) align.Key {
		return align.Key{Level: align.Host, Host: h, Direction: d}
	}
	job := func(h, j string) align.Key { return align.Key{Level: align.Job, Host: h, Job: j} }
	want := []align.Key{
		{Level: align.Cluster, Direction: fiolog.Read},
		{Level: align.Cluster, Direction: fiolog.Trim},
		host("a", fiolog.Read), host("a", fiolog.Write), host("b", fiolog.Read),
		job("a", ""), job("a", "1"), job("a", "2"), job("a", "2.10"), job("a", "10"), job("a", "10.1"), job("a", "100"), job("a", "vol.1"), job("b", "1"),
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, align.Key.Compare)
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestKeyOrderIsOne(t *testing.T) {
	keys := rapid.Custom(func(t *rapid.T) align.Key {
		return align.Key{
			Level:     rapid.SampledFrom(align.Levels[:]).Draw(t, "level"),
			Host:      rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "host"),
			Job:       rapid.StringMatching(`[0-9.a!]{0,3}`).Draw(t, "job"),
			Direction: fiolog.Direction(rapid.IntRange(0, 3).Draw(t, "direction")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := keys.Draw(t, "a"), keys.Draw(t, "b"), keys.Draw(t, "c")
		if a.Compare(b) != -b.Compare(a) || (a.Compare(b) == 0) != (a == b) {
			t.Errorf("%+v and %+v: %d and %d", a, b, a.Compare(b), b.Compare(a))
		}
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
			t.Errorf("%+v, %+v, %+v go round: %d", a, b, c, cmp.Compare(0, a.Compare(c)))
		}
	})
}
