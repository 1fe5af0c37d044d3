package export

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
)

func TestParseBuckets(t *testing.T) {
	for text, want := range map[string]string{
		"1-2-5":           "false []",
		"all":             "true []",
		"1ms":             "false [1ms]",
		"1ms, 100us,1.5s": "false [100µs 1ms 1.5s]",
	} {
		b, err := ParseBuckets(text)
		if got := fmt.Sprint(b.all, b.wanted); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "100", "1ms,", "-1ms", "0s", "1-2-5,1ms", "every"} {
		if b, err := ParseBuckets(text); err == nil || !strings.Contains(err.Error(), "want 1-2-5, all, or latencies") {
			t.Errorf("%q: %v, %v", text, b, err)
		}
	}
}

func FuzzParseBuckets(f *testing.F) {
	for _, text := range []string{"1-2-5", "all", "100us,1ms", "1h,1ns,1ns", "2562047h", ",", "1e3s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBuckets(text)
		if err != nil {
			return
		}
		for _, l := range []hist.Layout{hist.Fio3(0), hist.Fio3(6), hist.Fio2(3)} {
			checkBins(t, l, b.bins(l))
		}
	})
}

// checkBins checks that buckets end at ascending bins of the layout, and not at the last one.
func checkBins(t *testing.T, l hist.Layout, bins []int) {
	t.Helper()
	if len(bins) == 0 || bins[0] < 0 || bins[len(bins)-1] >= l.Len()-1 {
		t.Fatalf("%v: %v", l, bins)
	}
	for i := range bins[1:] {
		if bins[i] >= bins[i+1] {
			t.Fatalf("%v: %v", l, bins)
		}
	}
}

// TestStepsFollowLayout: bins of minutes have buckets, too.
func TestStepsFollowLayout(t *testing.T) {
	for groups, want := range map[int]time.Duration{17: 10 * time.Second, 29: 10 * time.Second, 30: 20 * time.Second, 34: 500 * time.Second, 40: 20_000 * time.Second} {
		l, err := hist.NewLayout(hist.Nanoseconds, groups, 0)
		if err != nil {
			t.Fatal(err)
		}
		if list := steps(l); list[len(list)-1] != want {
			t.Errorf("%d groups: up to %v, want %v", groups, list[len(list)-1], want)
		}
	}
	for groups := hist.MinGroups; groups <= hist.MaxGroups; groups++ {
		for _, unit := range []hist.Unit{hist.Nanoseconds, hist.Microseconds} {
			l, err := hist.NewLayout(unit, groups, 0)
			if err != nil {
				t.Fatal(err)
			}
			checkBins(t, l, (&Buckets{}).bins(l))
		}
	}
}

// TestBucketBounds: the bound of a bucket is the nearest edge of a bin. With fio's finest bins it differs from the
// step by at most a hundredth.
func TestBucketBounds(t *testing.T) {
	if list := steps(hist.Fio3(0)); len(list) != 22 || list[0] != time.Microsecond || list[21] != 10*time.Second {
		t.Fatalf("steps %v", list)
	}
	for _, l := range layouts() {
		bins := (&Buckets{}).bins(l)
		checkBins(t, l, bins)
		for _, step := range steps(l) {
			nearest, taken := math.Inf(1), math.Inf(1)
			for i := range l.Len() - 1 {
				_, high := l.Bounds(i)
				away := math.Abs(float64(high - 1 - int64(step)))
				nearest = min(nearest, away)
				if slices.Contains(bins, i) {
					taken = min(taken, away)
				}
			}
			if nearest != taken || l == hist.Fio3(0) && taken > float64(step)/100 {
				t.Errorf("%v: %v is %v ns away, the nearest %v", l, step, taken, nearest)
			}
		}
		if all := (&Buckets{all: true}).bins(l); len(all) != l.Len()-1 {
			t.Errorf("%v: %d of %d bins", l, len(all), l.Len())
		}
	}
}
