package trend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/memtest"
)

// made returns a series of n numbers around 1000 with a kind of noise and its standard deviation. At each place in
// changes the level changes by a ratio.
func made(r *rand.Rand, n int, kind string, sigma float64, changes map[int]float64) []Value {
	series, level, last := make([]Value, n), 1000.0, 0.0
	for i := range series {
		if ratio, ok := changes[i]; ok {
			level *= ratio
		}
		e := r.NormFloat64()
		switch kind {
		case "heavy": // Student's t with 3 degrees of freedom
			sq := func(x float64) float64 { return x * x }
			e /= math.Sqrt((sq(r.NormFloat64()) + sq(r.NormFloat64()) + sq(r.NormFloat64())) / 3)
		case "skewed": // lognormal
			e = (math.Exp(e*0.8) - 1.377) / 1.31
		case "outliers": // 3 % are far away
			if r.Float64() < 0.03 {
				e += 20 * r.ExpFloat64()
			}
		case "lasting": // correlation 0.4
			last = 0.4*last + math.Sqrt(1-0.16)*e
			e = last
		}
		series[i] = Known(level * math.Exp(sigma*e))
	}
	return series
}

// share returns for how many of the series, in percent, has returns true.
func share(series int, has func(r *rand.Rand) bool) float64 {
	r, n := rand.New(rand.NewPCG(1, 2)), 0
	for range series {
		if has(r) {
			n++
		}
	}
	return 100 * float64(n) / float64(series)
}

// TestLeastLevel: three unusual numbers are a change, and no level is shorter.
func TestLeastLevel(t *testing.T) {
	if n := len(detect(exact(1, 1, 1, 2, 2, 2), 0.02)); n != 1 {
		t.Errorf("%d changes, want 1", n)
	}
	share(500, func(r *rand.Rand) bool {
		n := 1 + r.IntN(12)
		series := made(r, n, "heavy", 0.05, map[int]float64{r.IntN(n): 2, r.IntN(n): 0.3, n - 2: 5})
		last := 0
		for _, c := range detect(series, 0.02) {
			if c.At-last < LeastLevel || n-c.At < LeastLevel {
				t.Errorf("a change at %d after one at %d: %v", c.At, last, series)
			}
			last = c.At
		}
		return true
	})
}

// TestFalseAlarms: of a hundred series of a year without a change, a change is found in at most one. If bad nights
// follow bad nights, noise looks like changes: then in at most five.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	for kind, most := range map[string]float64{"normal": 1, "heavy": 1, "skewed": 1, "outliers": 1, "lasting": 5} {
		for _, sigma := range []float64{0.02, 0.15} {
			for _, n := range []int{12, 30, 365} {
				alarms := share(memtest.Scale(100, 1000), func(r *rand.Rand) bool { return len(detect(made(r, n, kind, sigma, nil), 0.02)) > 0 })
				t.Logf("%-9s noise %4.1f %%, %3d numbers: %.2f %% false alarms", kind, 100*sigma, n, alarms)
				if alarms > most {
					t.Errorf("%s noise of %v, %d numbers: %v %% false alarms, want %v", kind, sigma, n, alarms, most)
				}
			}
		}
	}
}

// TestFound measures how many changes are found, at most one number beside their place, by the length of the series
// after the change.
func TestFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind        string
		sigma, size float64
		after       int
		least       float64 // in percent
	}{
		{"normal", 0.02, 1.5, 3, 95}, {"outliers", 0.02, 1.5, 3, 85}, {"heavy", 0.05, 1.5, 5, 90}, {"lasting", 0.02, 1.5, 5, 80},
		{"normal", 0.02, 1.1, 5, 85}, {"normal", 0.02, 1 / 1.1, 5, 85}, {"heavy", 0.02, 1.1, 10, 80}, {"skewed", 0.02, 1.1, 5, 85}, {"outliers", 0.02, 1.1, 7, 80},
		{"normal", 0.005, 1.05, 5, 95}, {"normal", 0.02, 1.05, 30, 75}, {"heavy", 0.02, 1.05, 60, 75}, {"outliers", 0.02, 1.05, 30, 75},
		{"normal", 0.05, 1.1, 30, 65}, {"normal", 0.15, 1.5, 30, 80},
	} {
		found := share(100, func(r *rand.Rand) bool {
			at := 60 + r.IntN(100)
			changes := detect(made(r, at+c.after, c.kind, c.sigma, map[int]float64{at: c.size}), 0.02)
			return len(changes) == 1 && changes[0].At >= at-1 && changes[0].At <= at+1
		})
		t.Logf("%-9s noise %4.1f %%, %+3.0f %%, %2d numbers later: %.0f %% found", c.kind, 100*c.sigma, 100*c.size-100, c.after, found)
		if found < c.least {
			t.Errorf("%+v: %v %% found", c, found)
		}
	}
}

// TestFoundInShort: in a series of a few weeks, noise that is correlated by chance does not hide a change.
func TestFoundInShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind        string
		n           int
		sigma, size float64
		least       float64 // in percent
	}{
		{"normal", 20, 0.05, 1.5, 95}, {"normal", 30, 0.05, 1.5, 95}, {"heavy", 30, 0.05, 1.5, 90}, {"skewed", 30, 0.05, 1.5, 95}, {"lasting", 40, 0.05, 1.5, 95},
		{"normal", 30, 0.02, 1.1, 75}, {"normal", 60, 0.02, 1.1, 95}, {"outliers", 40, 0.02, 1.1, 80},
	} {
		at := c.n * 2 / 3
		found := share(300, func(r *rand.Rand) bool {
			changes := detect(made(r, c.n, c.kind, c.sigma, map[int]float64{at: c.size}), 0.03)
			return len(changes) == 1 && changes[0].At >= at-1 && changes[0].At <= at+1
		})
		t.Logf("%-9s noise %4.1f %%, %+3.0f %%, %2d numbers: %.0f %% found", c.kind, 100*c.sigma, 100*c.size-100, c.n, found)
		if found < c.least {
			t.Errorf("%+v: %v %% found", c, found)
		}
	}
}

// TestSize: the true size lies within the bounds as often as their confidence promises.
func TestSize(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"normal", "heavy", "skewed", "outliers"} {
		within := share(300, func(r *rand.Rand) bool {
			changes := detect(made(r, 90, kind, 0.02, map[int]float64{50: 1.2}), 0.02)
			return len(changes) == 1 && changes[0].Low <= 1.2 && 1.2 <= changes[0].High && changes[0].Low <= changes[0].Ratio.Low && changes[0].Ratio.Low <= changes[0].High
		})
		if within < 95 {
			t.Errorf("%s: %v %% of the sizes lie within their bounds, want 99", kind, within)
		}
	}
}

// TestSeveral: a change that was undone counts as two changes, even a short one.
func TestSeveral(t *testing.T) {
	t.Parallel()
	for _, want := range []map[int]float64{
		{100: 1.1, 110: 1 / 1.1}, {20: 1.3, 60: 1.3, 100: 1.3, 140: 0.3}, {3: 2}, {197: 0.5},
	} {
		found := share(100, func(r *rand.Rand) bool {
			changes := detect(made(r, 200, "outliers", 0.02, want), 0.02)
			for _, c := range changes {
				if want[c.At] == 0 && want[c.At-1] == 0 && want[c.At+1] == 0 {
					return false
				}
			}
			return len(changes) == len(want)
		})
		if found < 85 {
			t.Errorf("%v: %v %% found", want, found)
		}
	}
}

// TestOutliers: one or two numbers are never a change, at any place and at any distance.
func TestOutliers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for at := range 49 {
		s := made(r, 50, "normal", 0.01, nil)
		s[at] = Known(s[at].Low * 1e6)
		s[at+1] = Known(s[at+1].Low * 1e6)
		if c := detect(s, 0); len(c) != 0 {
			t.Errorf("%d: %v", at, c)
		}
	}
}

// TestDetect: the result does not depend on the unit of the numbers, or on missing numbers.
func TestDetect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		series := made(r, r.IntN(120), []string{"normal", "heavy", "skewed", "outliers"}[r.IntN(4)], 0.05, map[int]float64{r.IntN(120): 1.5})
		want := detect(series, 0.05)

		var scaled, gaps []Value
		places := []int{}
		for _, v := range series {
			scaled = append(scaled, Known(v.Low*1024))
			if r.IntN(3) == 0 {
				gaps = append(gaps, Known([]float64{0, -1, math.NaN(), math.Inf(1)}[r.IntN(4)]))
			}
			places, gaps = append(places, len(gaps)), append(gaps, v)
		}
		for name, got := range map[string][]Change{"in another unit": detect(scaled, 0.05), "with gaps": detect(gaps, 0.05)} {
			if len(got) != len(want) {
				t.Fatalf("%s: %v, want %v", name, got, want)
			}
			for i := range got {
				wantAt := want[i].At
				if name == "with gaps" {
					wantAt = places[wantAt]
				}
				// Several places may have the same cost except for rounding.
				if math.Abs(float64(got[i].At-wantAt)) > 3 || math.Abs(got[i].Ratio.Low/want[i].Ratio.Low-1) > 0.05 {
					t.Fatalf("%s: %v, want %v", name, got, want)
				}
			}
		}
		for _, c := range want {
			if is := math.Max(c.Ratio.Low, 1/c.Ratio.Low); is < 1.05 || c.Low > c.Ratio.Low || c.High < c.Ratio.Low || !c.Ratio.IsKnown() || c.Low <= 1 && c.High >= 1 {
				t.Fatalf("%+v", c)
			}
		}
	}
	if c := detect(nil, 0); c != nil {
		t.Error(c)
	}
	if c := detect(exact(5, 5, 5, 5, 9, 9, 9, 9), 0.02); len(c) != 1 || c[0].At != 4 || math.Round(c[0].Before.Low) != 5 || math.Round(c[0].After.Low) != 9 {
		t.Error(c)
	}
}

func exact(numbers ...float64) (series []Value) {
	for _, n := range numbers {
		series = append(series, Known(n))
	}
	return series
}

// cut replaces numbers above a limit by bounds, like the last bin of a histogram.
func cut(series []Value, limit float64) []Value {
	series = slices.Clone(series)
	for i, v := range series {
		if v.Low >= limit {
			series[i] = Value{limit, math.Inf(1)}
		}
	}
	return series
}

// TestFalseAlarmsOfBounds: if the noise of a series crosses the limit, this causes no change.
func TestFalseAlarmsOfBounds(t *testing.T) {
	memtest.Large(t)
	t.Parallel()
	for _, sigma := range []float64{0.02, 0.15} {
		for _, limit := range []float64{-1, -0.3, 0, 0.3, 1} { // in standard deviations
			alarms := share(1000, func(r *rand.Rand) bool {
				return len(detect(cut(made(r, 365, "normal", sigma, nil), 1000*math.Exp(limit*sigma)), 0.02)) > 0
			})
			t.Logf("noise %4.1f %%, bounds from %+.1f deviations on: %.2f %% false alarms", 100*sigma, limit, alarms)
			if alarms > 1 {
				t.Errorf("noise of %v, bounds from %v: %v %% false alarms, want 1", sigma, limit, alarms)
			}
		}
	}
}

// TestBounds: what bounds leave open about a change is not stated, and what is stated is true.
func TestBounds(t *testing.T) {
	up := map[int]float64{50: 2}
	bounds := func(n float64) []Value { return slices.Repeat([]Value{{n, math.Inf(1)}}, 20) }
	numbers := func(n float64) []Value { return slices.Repeat([]Value{{n, n}}, 20) }
	for name, c := range map[string]struct {
		series []Value
		want   string
	}{
		"above":                   {slices.Concat(numbers(5), bounds(17)), "20: 5 to >=17, >=3.40 in 3.40 to +Inf"},
		"no more":                 {slices.Concat(bounds(17), numbers(5)), "20: >=17 to 5, <=0.29 in 0.00 to 0.29"},
		"two bounds":              {slices.Concat(bounds(8.6), bounds(17)), ""},
		"another layout":          {slices.Concat(numbers(5), bounds(8.6), bounds(17)), "20: 5 to >=12, >=2.42 in 1.72 to +Inf"},
		"perhaps the same":        {slices.Concat(numbers(12), bounds(8.6)), ""},
		"a bound is no evidence":  {slices.Concat(bounds(8.6), numbers(12)), ""},
		"a few bounds":            {cut(slices.Concat(numbers(5), exact(8, 8, 8, 8, 8, 8, 8, 20, 8, 8)), 17), "20: 5 to 8, 1.60 in 1.60 to 1.60"},
		"most are bounds":         {cut(slices.Concat(numbers(5), exact(8, 20, 20, 20, 20, 20, 20, 20, 8, 20)), 17), "20: 5 to >=17, >=3.40 in 3.40 to +Inf"},
		"from bounds to one more": {slices.Concat(bounds(17), numbers(5), bounds(17)), "20: >=17 to 5, <=0.29 in 0.00 to 0.29; 40: 5 to >=17, >=3.40 in 3.40 to +Inf"},
	} {
		var got []string
		for _, ch := range detect(c.series, 0.02) {
			text := func(v Value, format string) string {
				switch {
				case v.IsKnown():
					return fmt.Sprintf(format, v.Low)
				case v.Low == 0:
					return "<=" + fmt.Sprintf(format, v.High)
				case math.IsInf(v.High, 1):
					return ">=" + fmt.Sprintf(format, v.Low)
				}
				return fmt.Sprintf(format+"..."+format, v.Low, v.High)
			}
			got = append(got, fmt.Sprintf("%d: %s to %s, %s in %.2f to %.2f", ch.At, text(ch.Before, "%.0f"), text(ch.After, "%.0f"), text(ch.Ratio, "%.2f"), ch.Low, ch.High))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %s, want %s", name, strings.Join(got, "; "), c.want)
		}
	}
	// The bounds of a change of cut numbers contain the change of the original numbers.
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		all := made(r, 100, "heavy", 0.15, up)
		before, after := all[:50], all[50:]
		limit := 500 * math.Exp(2*r.Float64())
		want, _, _ := ratios(logs(before), logs(after))
		got, low, high := ratios(logs(cut(before, limit)), logs(cut(after, limit)))
		if low > want.Low || high < want.Low || want.Low < got.Low-1e-9 || want.Low > got.High+1e-9 {
			t.Fatalf("cut at %v: %v in %v to %v, want %v", limit, got, low, high, want)
		}
	}
}

func logs(series []Value) (x []Value) {
	for _, v := range series {
		x = append(x, Value{math.Log(v.Low), math.Log(v.High)})
	}
	return x
}

func BenchmarkDetect(b *testing.B) {
	s := made(rand.New(rand.NewPCG(1, 2)), 365, "outliers", 0.02, map[int]float64{100: 1.1, 200: 0.8})
	for b.Loop() {
		detect(s, 0.02)
	}
}

func detect(series []Value, least float64) []Change {
	changes, _ := Detect(series, least)
	return changes
}

// TestNth: each number is where it would be in the sorted list.
func TestNth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		list := make([]float64, n+1)
		for i := range list {
			list[i] = []float64{rng.NormFloat64(), float64(rng.IntN(3)), float64(i), math.Inf(1)}[(n+rng.IntN(2))%4]
		}
		sorted := slices.Clone(list)
		slices.Sort(sorted)
		for _, i := range []int{0, n / 3, n / 2, n, rng.IntN(n + 1)} {
			if got := nth(list, i); got != sorted[i] {
				t.Fatalf("number %d of %d is %v, want %v", i, n+1, got, sorted[i])
			}
		}
		if slices.Sort(list); !slices.Equal(list, sorted) {
			t.Fatal("other numbers")
		}
	}
}

// TestDifferences: each difference is where it would be in the sorted list of all.
func TestDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var lists [2][]Value
		for i := range lists {
			for range 1 + rng.IntN(12) {
				x := []float64{rng.NormFloat64(), float64(rng.IntN(3)), -1e-300 * rng.Float64()}[rng.IntN(3)]
				lists[i] = append(lists[i], Value{x, []float64{x, x + rng.Float64(), math.Inf(1)}[rng.IntN(3)]})
			}
		}
		for _, d := range []differences{
			{sorted(lists[0], Value.low), sorted(lists[1], Value.high)}, {sorted(lists[0], Value.high), sorted(lists[1], Value.low)},
		} {
			var all []float64
			for _, a := range d.of {
				for _, b := range d.from {
					all = append(all, a-b)
				}
			}
			slices.Sort(all)
			for i, want := range all {
				if got := d.nth(i); got != want {
					t.Fatalf("difference %d of %v is %v, want %v", i, d, got, want)
				}
			}
			if got, want := d.median(), median(all); got != want && !math.IsNaN(want) {
				t.Fatalf("median of %v is %v, want %v", d, got, want)
			}
		}
	}
}
