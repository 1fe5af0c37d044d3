package align

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// second makes a window of one second with some requests, whose latencies spread over a few bins.
func second(at int64, key Key, requests int) *Window {
	w := &Window{
		Key: key, Elapsed: at * 1000, Length: 1000, Start: at*1000 + 3, End: at*1000 + 1003,
		Latencies: hist.New(hist.Fio3(0)), Completed: int64(requests),
	}
	rng := rand.New(rand.NewPCG(uint64(at), uint64(len(key.Host))))
	for range requests {
		w.Latencies.AddLatency(int64(100_000+rng.ExpFloat64()*30_000), 1)
	}
	for i, n := range w.Latencies.All() {
		w.Counts = append(w.Counts, hist.Bin{Index: uint32(i), Count: uint64(n)})
	}
	return w
}

func sequence(windows ...*Window) iter.Seq2[*Window, error] {
	return func(yield func(*Window, error) bool) {
		for _, w := range windows {
			if !yield(w, nil) {
				return
			}
		}
	}
}

func joinAll(t testing.TB, windows iter.Seq2[*Window, error], p Precision) []*Window {
	t.Helper()
	var out []*Window
	for w, err := range Joined(windows, p) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

func shape(windows []*Window) []string {
	var out []string
	for _, w := range windows {
		out = append(out, fmt.Sprintf("%s%s %d+%d: %d-%d %d", w.Key.Host, w.Key.Direction, w.Elapsed, w.Length, w.Start, w.End, w.Completed))
	}
	return out
}

func TestJoin(t *testing.T) {
	all := Key{Level: Cluster}
	writes := Key{Level: Cluster, Direction: fiolog.Write}
	host := Key{Level: Host, Host: "h"}
	p99 := Precision{Quantile: 0.99, Error: 0.1, Longest: 60_000}
	for name, c := range map[string]struct {
		in   []*Window
		want []string
	}{
		"nothing": {nil, nil},
		"busy": {[]*Window{second(0, all, 5000), second(1, all, 5000)}, []string{
			"read 0+1000: 3-1003 5000", "read 1000+1000: 1003-2003 5000",
		}},
		"quiet, then busy": {[]*Window{second(0, all, 400), second(1, all, 400), second(2, all, 5000), second(3, all, 5000)}, []string{
			"read 0+3000: 3-3003 5800", "read 3000+1000: 3003-4003 5000",
		}},
		"too little at the end": {[]*Window{second(0, all, 5000), second(1, all, 5000), second(2, all, 20)}, []string{
			"read 0+1000: 3-1003 5000", "read 1000+2000: 1003-3003 5020",
		}},
		"too little at all": {[]*Window{second(0, all, 20), second(1, all, 20)}, []string{"read 0+2000: 3-2003 40"}},
		"both directions": {[]*Window{second(0, all, 5000), second(0, writes, 300), second(1, all, 5000), second(1, writes, 5000), second(2, all, 5000)}, []string{
			"read 0+2000: 3-2003 10000", "write 0+2000: 3-2003 5300", "read 2000+1000: 2003-3003 5000",
		}},
		"the highest level decides": {[]*Window{second(0, all, 5000), second(0, host, 10), second(1, all, 5000), second(1, host, 10)}, []string{
			"read 0+1000: 3-1003 5000", "hread 0+1000: 3-1003 10", "read 1000+1000: 1003-2003 5000", "hread 1000+1000: 1003-2003 10",
		}},
		"a key that comes and goes": {[]*Window{second(0, all, 30), second(1, all, 30), second(1, host, 30), second(2, all, 30)}, []string{
			"read 0+3000: 3-3003 90", "hread 0+3000: 0-3000 30",
		}},
		"a long gap": {[]*Window{second(0, all, 30), second(90, all, 30)}, []string{"read 0+1000: 3-1003 30", "read 90000+1000: 90003-91003 30"}},
		"a gap":      {[]*Window{second(0, all, 30), second(9, all, 30), second(10, all, 5000)}, []string{"read 0+11000: 3-11003 5060"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, shape(joinAll(t, sequence(c.in...), p99))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestJoinEnds: an error ends it, and so does the caller; another layout begins a new window.
func TestJoinEnds(t *testing.T) {
	p := Precision{Quantile: 0.5, Error: 0.1, Longest: 3000}
	broken := errors.New("broken")
	n := 0
	for _, err := range Joined(func(yield func(*Window, error) bool) {
		_ = yield(second(0, Key{Level: Cluster}, 10), nil) && yield(nil, broken)
	}, p) {
		if n++; !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	var long []*Window
	for at := range int64(20) {
		long = append(long, second(at, Key{Level: Cluster}, 1))
	}
	for w := range Joined(sequence(long...), p) {
		if n++; w.Length != 3000 {
			t.Errorf("%d ms", w.Length)
		}
		break
	}
	if n != 2 {
		t.Errorf("%d results", n)
	}
	coarse := second(1, Key{Level: Cluster}, 1)
	coarse.Latencies = coarse.Latencies.To(hist.Fio3(3))
	if got := joinAll(t, sequence(second(0, Key{Level: Cluster}, 1), coarse), p); len(got) != 2 {
		t.Errorf("%d windows of two layouts", len(got))
	}
}

// TestJoinKeeps: nothing is lost, windows follow one another, and all but those that are
// as long as may be, and one that nothing could be joined to, are precise.
func TestJoinKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Precision{
			Quantile: rapid.SampledFrom([]float64{0.5, 0.9, 0.99}).Draw(t, "quantile"),
			Error:    rapid.SampledFrom([]float64{0.05, 0.2}).Draw(t, "error"), Longest: 5000,
		}
		keys := []Key{
			{Level: Cluster}, {Level: Cluster, Direction: fiolog.Write}, {Level: Host, Host: "a"}, {Level: Host, Host: "b"},
		}
		in := map[Key]*Window{}
		var windows []*Window
		for at := range rapid.Int64Range(0, 20).Draw(t, "seconds") {
			for _, key := range keys {
				n := rapid.SampledFrom([]int{0, 0, 3, 100, 1500}).Draw(t, "requests")
				if n == 0 {
					continue
				}
				w := second(at, key, n)
				if windows = append(windows, w); in[key] == nil {
					in[key] = &Window{Latencies: hist.New(hist.Fio3(0))}
				}
				in[key].Latencies.Merge(w.Latencies)
				in[key].Completed += w.Completed
			}
		}
		var last *Window
		unsure := int64(-1) // Elapsed of a window that is not precise
		for w, err := range Joined(sequence(windows...), p) {
			if err != nil {
				t.Fatal(err)
			}
			if last != nil && (w.Elapsed < last.Elapsed || w.Elapsed == last.Elapsed && w.Key.Compare(last.Key) <= 0 ||
				w.Elapsed > last.Elapsed && w.Elapsed < last.Elapsed+last.Length) {
				t.Fatalf("%s after %s", shape([]*Window{w}), shape([]*Window{last}))
			}
			if unsure >= 0 && unsure != w.Elapsed {
				t.Fatalf("the window at %d is too short", unsure)
			}
			if w.Key.Level == Cluster && w.Length < p.Longest && !isPrecise(w.Latencies, p) {
				unsure = w.Elapsed // which the last one may be
			}
			if last = w; w.Length > 4*p.Longest || w.Start > w.End {
				t.Fatalf("%s", shape([]*Window{w}))
			}
			whole := in[w.Key]
			if whole == nil || !whole.Latencies.Subtract(w.Latencies) {
				t.Fatalf("%s: requests that were not there", shape([]*Window{w}))
			}
			whole.Completed -= w.Completed
			counted := uint64(0)
			if !slices.IsSortedFunc(w.Counts, func(a, b hist.Bin) int { return int(a.Index) - int(b.Index) }) {
				t.Fatalf("%s: bins do not ascend", shape([]*Window{w}))
			}
			for _, b := range w.Counts {
				counted += b.Count
			}
			if counted != uint64(w.Completed) || w.Latencies.Total() != float64(w.Completed) {
				t.Fatalf("%s: %d in bins", shape([]*Window{w}), counted)
			}
		}
		for key, w := range in {
			if w.Completed != 0 || !w.Latencies.IsEmpty() {
				t.Fatalf("%v: %d requests lost", key, w.Completed)
			}
		}
	})
}
