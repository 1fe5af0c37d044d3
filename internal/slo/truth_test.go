package slo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// latencies generates raw latencies of all magnitudes, in nanoseconds.
func latencies() *rapid.Generator[[]int64] {
	one := rapid.Custom(func(t *rapid.T) int64 {
		return int64(rapid.IntRange(1, 99).Draw(t, "digits")) * int64(math.Pow10(rapid.IntRange(0, 8).Draw(t, "magnitude")))
	})
	return rapid.SliceOfN(one, 1, 60)
}

func layouts() *rapid.Generator[hist.Layout] {
	return rapid.Custom(func(t *rapid.T) hist.Layout { return hist.Fio3(rapid.IntRange(0, 6).Draw(t, "coarseness")) })
}

func binned(l hist.Layout, raw []int64) *hist.Histogram {
	h := hist.New(l)
	for _, ns := range raw {
		h.AddLatency(ns, 1)
	}
	return h
}

// about is a rule about latency, and its result from raw latencies, by sorting and counting.
type about struct {
	subject string
	share   bool
	truth   func(sorted []int64) float64
	binned  func(h *hist.Histogram) float64
}

func subjects() *rapid.Generator[about] {
	return rapid.Custom(func(t *rapid.T) about {
		switch kind := rapid.SampledFrom([]string{"p", "min", "mean", "max", "within"}).Draw(t, "kind"); kind {
		case "p":
			percent := rapid.IntRange(1, 999_999).Draw(t, "percent") // in units of 0.0001 %
			q := float64(percent) / 1e6
			return about{
				subject: fmt.Sprintf("p%d.%04d", percent/10_000, percent%10_000),
				truth:   func(sorted []int64) float64 { return float64(sorted[(percent*len(sorted)+999_999)/1_000_000-1]) },
				binned:  func(h *hist.Histogram) float64 { return math.Round(h.Percentile(q).Value) },
			}
		case "within":
			us := rapid.IntRange(0, 2_000_000).Draw(t, "within")
			return about{
				subject: fmt.Sprintf("within %dus", us), share: true,
				truth: func(sorted []int64) float64 {
					served := 0
					for served < len(sorted) && sorted[served] <= int64(us)*1000 {
						served++
					}
					return float64(served) / float64(len(sorted))
				},
				binned: func(h *hist.Histogram) float64 {
					within, _, _ := h.CountWithin(float64(us) * 1000)
					return within / h.Total()
				},
			}
		case "min":
			return about{kind, false, func(sorted []int64) float64 { return float64(sorted[0]) }, func(h *hist.Histogram) float64 { return math.Round(h.Min().Value) }}
		case "max":
			return about{kind, false, func(sorted []int64) float64 { return float64(sorted[len(sorted)-1]) }, func(h *hist.Histogram) float64 { return math.Round(h.Max().Value) }}
		}
		return about{
			"mean", false,
			func(sorted []int64) float64 {
				sum := int64(0)
				for _, ns := range sorted {
					sum += ns
				}
				return float64(sum) / float64(len(sorted))
			},
			func(h *hist.Histogram) float64 { return math.Round(h.Mean().Value) },
		}
	})
}

// written returns a rule whose limit is close to one of the values near, and a function that reports whether a value
// meets it.
func (a *about) written(t *rapid.T, near ...float64) (text string, met func(float64) bool) {
	operator := rapid.SampledFrom([]string{"<", "<=", ">", ">="}).Draw(t, "operator")
	value := rapid.SampledFrom(near).Draw(t, "near") * rapid.SampledFrom([]float64{1, 1, 0.99, 1.01, 0.5, 2}).Draw(t, "times")
	limit, unit := math.Round(value), "ns"
	if a.share {
		limit, unit = math.Round(min(value, 1)*1000)/10, "%"
	}
	text = fmt.Sprintf("%s %s %v%s", a.subject, operator, limit, unit)
	if a.share {
		limit /= 100
	}
	return text, func(x float64) bool {
		return map[string]bool{"<": x < limit, "<=": x <= limit, ">": x > limit, ">=": x >= limit}[operator]
	}
}

// TestTruth: the value is that of the histogram, and the verdict follows from it. A verdict that is not close is the
// verdict of the raw latencies.
func TestTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, a := latencies().Draw(t, "raw"), subjects().Draw(t, "subject")
		slices.Sort(raw)
		h := binned(layouts().Draw(t, "layout"), raw)
		truth, value := a.truth(raw), a.binned(h)
		text, met := a.written(t, truth, value)
		e := New(parse(t, text))
		w := sample{direction: "read", end: 1000, completed: int64(len(raw)), latency: h}
		e.add(w)
		o, ok := e.rules[0].in(&w)
		v := e.Verdicts()[0]
		if v.Value != value || v.Requests != float64(len(raw)) || !(v.Low <= truth && truth <= v.High) {
			t.Fatalf("%s: %+v, want %v; truly %v", text, v, value, truth)
		}
		if v.State == Unknown && !math.IsInf(v.High, 1) || v.State != Unknown && (v.State == Met) != met(value) {
			t.Fatalf("%s: %+v", text, v)
		}
		if !v.Close && (v.State == Met) != met(truth) {
			t.Fatalf("%s: %+v, truly %v", text, v, truth)
		}
		if (ok && !o.met && !o.isUnknown) != (v.State == Broken) {
			t.Fatalf("%s: %+v, but in the only window %+v", text, v, o)
		}
	})
}

// slot is a second of a run in one direction. Without a window there was no request.
type slot struct {
	there     bool
	raw       []int64
	completed int64
}

// naive checks the slots of a run one by one. ok is set if the rule applies to a slot.
func naive(slots []slot, ask func(s slot) (value float64, met, ok bool), upper bool) (w Windows) {
	last := -1 // last slot that was not broken
	for i, s := range slots {
		value, met, ok := ask(s)
		at := Moment{Start: int64(i) * 1000, End: int64(i)*1000 + 1000, Value: value}
		if !ok || met {
			last = i
		}
		if !ok {
			continue
		}
		if w.Judged == 0 || upper && value > w.Worst.Value || !upper && value < w.Worst.Value {
			w.Worst = at
		}
		w.Judged += 1000
		if met {
			w.Held += 1000
			continue
		}
		if w.First.IsZero() {
			w.First = at
		}
		if stretch := at.End - int64(last+1)*1000; stretch > w.Longest.End-w.Longest.Start {
			w.Longest = Moment{Start: at.End - stretch, End: at.End, Value: 0}
		}
	}
	return w
}

// TestWindows: shares and stretches equal those of naive, and the order of windows does not matter.
func TestWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := make([]slot, rapid.IntRange(3, 30).Draw(t, "slots"))
		layout := layouts().Draw(t, "layout")
		var windows []sample
		for i := range slots {
			s := &slots[i]
			// The length of windows is known only if there are two neighbours.
			s.there = i < 2 || i == len(slots)-1 || rapid.IntRange(0, 4).Draw(t, "there") > 0
			if !s.there {
				continue
			}
			s.raw, s.completed = latencies().Draw(t, "raw"), rapid.Int64Range(0, 6).Draw(t, "completed")
			if rapid.IntRange(0, 9).Draw(t, "is empty") == 0 {
				s.raw = nil
			}
			windows = append(windows, sample{direction: "write", start: int64(i) * 1000, end: int64(i)*1000 + 1000, completed: s.completed, latency: binned(layout, s.raw)})
		}
		a := subjects().Draw(t, "subject")
		text, met := a.written(t, a.truth([]int64{2_000_000}), 5e7)
		share := rapid.SampledFrom([]string{"1%", "25%", "50%", "90%", "99.9%", "100%"}).Draw(t, "share")
		rate := float64(rapid.IntRange(0, 7).Draw(t, "rate"))
		rules := parse(t, text+" in "+share+" of windows", fmt.Sprintf("write.iops >= %v in every window", rate))
		e := New(rules)
		for _, w := range windows {
			e.add(w)
		}
		got := e.Verdicts()
		latency := naive(slots, func(s slot) (float64, bool, bool) {
			if len(s.raw) == 0 {
				return 0, false, false
			}
			value := a.binned(binned(layout, s.raw))
			return value, met(value), true
		}, rules[0].isUpper())
		// A gap counts as one moment, even if it is as long as several windows.
		iops := naive(slots, func(s slot) (float64, bool, bool) { return float64(s.completed), float64(s.completed) >= rate, true }, false)
		for i, want := range []Windows{latency, iops} {
			v := got[i]
			if want.Judged == 0 {
				if v.State != Unknown {
					t.Fatalf("%s: %+v of nothing", v.Rule, v)
				}
				continue
			}
			if v.Windows.Judged != want.Judged || v.Windows.Held != want.Held || v.Windows.Worst.Value != want.Worst.Value || v.Windows.Worst.Start != want.Worst.Start ||
				v.Windows.First.Start != want.First.Start || v.Windows.Longest.Start != want.Longest.Start || v.Windows.Longest.End != want.Longest.End {
				t.Fatalf("%s: %+v, want %+v", v.Rule, v.Windows, want)
			}
			if v.Value != float64(want.Held)/float64(want.Judged) || (v.State == Met) != (v.Value >= v.Rule.Limit()) || v.Low > v.Value || v.High < v.Value {
				t.Fatalf("%s: %+v", v.Rule, v)
			}
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		rng.Shuffle(len(windows), func(i, j int) { windows[i], windows[j] = windows[j], windows[i] })
		again := New(rules)
		for _, w := range windows {
			again.add(w)
			again.Verdicts() // Verdicts must not change the evaluator
		}
		if got, want := fmt.Sprintf("%+v", again.Verdicts()), fmt.Sprintf("%+v", got); got != want {
			t.Fatalf("in another order:\n%s\nwant\n%s", got, want)
		}
	})
}
