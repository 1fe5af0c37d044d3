package compact

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/testcost"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func TestMain(m *testing.M) {
	testcost.Lower()
	m.Run()
}

// made returns a document of a run. from and to are milliseconds since the run's start; counts are by bin.
func made(s window.Series, from, to int64, counts map[int]int64) *mapping.Interval {
	h := hist.New(hist.Fio3(0))
	for bin, n := range counts {
		h.AddAt(bin, float64(n))
	}
	at := func(ms int64) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	lat := mapping.NewLatency(h, nil)
	n := lat.Bins.Total()
	return &mapping.Interval{
		Time: at(from), Level: s.Level, Window: mapping.Window{End: at(to), MS: to - from, ElapsedMS: from},
		Run: mapping.RunRef{ID: "aa", Name: "aa", Start: start, Ingest: "1"}, Host: mapping.HostRef{Name: s.Host},
		Fio: mapping.FioRef{Direction: s.Direction, Job: s.Job, Section: s.Section}, Latency: lat, DocCount: n,
		Requests: mapping.Requests{Completed: n, Weight: float64(n)}, IOPS: float64(n) * 1000 / float64(to-from), Weighting: "inflight",
		CBT: mapping.CBT{Mode: "randread"},
	}
}

// place is a minute of a series.
type place struct {
	window.Series
	minute int64
}

func openStore(t *testing.T, dir string) *sqlite.Store {
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMinutes: each minute has the counts of its seconds, bin by bin, even if counts are so large that documents are
// split. All minutes together have the histogram of the run, so its percentiles do not change.
func TestMinutes(t *testing.T) {
	all := []window.Series{{Level: mapping.Cluster, Direction: "read"}, {Level: mapping.Cluster, Direction: "write"}, {Level: mapping.Host, Direction: "read", Host: "h"}, {Level: mapping.Job, Direction: "read", Host: "h", Job: "1", Section: "reader"}, {Level: mapping.Section, Direction: "read", Section: "reader"}}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		s := openStore(t, dir)
		defer s.Close()
		end, length := rapid.Int64Range(1, 130_000).Draw(rt, "milliseconds"), rapid.SampledFrom([]int64{1000, 4000, 20_000}).Draw(rt, "length")
		run := aRun("aa", func(r *mapping.Run) {
			r.Run.End, r.IntervalMS, r.Documents = start.Add(time.Duration(end)*time.Millisecond), length, mapping.Documents{}
			r.CBT.Mode = "randread"
		})
		want, docs := map[place]map[int]int64{}, []*mapping.Interval(nil)
		whole := hist.New(hist.Fio3(0))
		for from := int64(0); from < end; from += length {
			for _, of := range all {
				if rapid.IntRange(0, 4).Draw(rt, "gap") == 0 && (from > 0 || of != all[0]) {
					continue
				}
				counts := map[int]int64{}
				for range rapid.IntRange(1, 3).Draw(rt, "bins") {
					counts[rapid.IntRange(0, 1800).Draw(rt, "bin")] = rapid.SampledFrom([]int64{1, 7, 90_000, math.MaxInt32}).Draw(rt, "count")
				}
				key := place{of, from / 60_000}
				if want[key] == nil {
					want[key] = map[int]int64{}
				}
				for bin, n := range counts {
					want[key][bin] += n
					if of == all[0] {
						whole.AddAt(bin, float64(n))
					}
				}
				run.Documents.Add(of.Level, 1)
				docs = append(docs, made(of, from, min(from+length, end), counts).Split()...)
			}
		}
		run.Read = &mapping.Totals{Latency: mapping.NewLatency(whole, nil)}
		if err := errors.Join(s.Put(t.Context(), docs), s.Finish(t.Context(), run)); err != nil {
			rt.Fatal(err)
		}
		_, after, err := Run(t.Context(), s, "aa", time.Minute, start)
		if err != nil {
			rt.Fatal(err)
		}
		got, merged := map[place]map[int]int64{}, hist.New(hist.Fio3(0))
		for _, level := range mapping.Levels {
			for d, err := range s.Intervals(t.Context(), history.Selection{Runs: []string{"aa"}, Level: level}) {
				if err != nil {
					rt.Fatal(err)
				}
				h, err := d.Latency.Hist()
				if err != nil {
					rt.Fatal(err)
				}
				key := place{window.SeriesOf(d), d.Window.ElapsedMS / 60_000}
				from, to := key.minute*60_000, min((key.minute+1)*60_000, end)
				if n := int64(h.Total()); d.Window != (mapping.Window{End: start.Add(time.Duration(to) * time.Millisecond), MS: to - from, ElapsedMS: from}) ||
					d.DocCount != n || d.Requests.Completed != n || d.Weighting != "inflight" || d.CBT.Mode != "randread" {
					rt.Fatalf("%+v", d)
				}
				if got[key] == nil {
					got[key] = map[int]int64{}
				}
				for bin, n := range h.All() {
					got[key][bin] += int64(n)
				}
				if key.Series == all[0] {
					merged.Merge(h)
				}
			}
		}
		if !maps.EqualFunc(got, want, maps.Equal[map[int]int64, map[int]int64]) {
			rt.Fatalf("%v, want %v", got, want)
		}
		if lat := mapping.NewLatency(merged, nil); lat.P99 != after.Read.Latency.P99 || lat.P9999 != run.Read.Latency.P9999 || lat.Max != run.Read.Latency.Max {
			rt.Fatalf("%+v, want %+v", lat, run.Read.Latency)
		}
	})
}

// TestLacking: a run that lacks documents is not compacted.
func TestLacking(t *testing.T) {
	s := openStore(t, t.TempDir())
	defer s.Close()
	run := aRun("aa", func(r *mapping.Run) { r.Documents = mapping.Documents{Cluster: 2} })
	d := made(window.Series{Level: mapping.Cluster, Direction: "read"}, 0, 1000, map[int]int64{5: 1})
	if err := errors.Join(s.Put(t.Context(), []*mapping.Interval{d}), s.Finish(t.Context(), run)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Run(t.Context(), s, "aa", time.Minute, start); !errors.Is(err, ErrLacking) {
		t.Errorf("%v", err)
	}
}

// halfway is a store in which a replacement was interrupted: it also has documents of another version.
type halfway struct {
	history.Store
	made []string
}

func (s *halfway) Count(context.Context, []string, ...mapping.Level) (history.Counts, error) {
	c := history.Counts{}
	c.Add("aa", "1", mapping.Cluster, 330, 0, 330)
	c.Add("aa", "1", mapping.Host, 650, 0, 650)
	c.Add("aa", "0", mapping.Cluster, 3000, 0, 0)
	return c, nil
}

func (s *halfway) MakeCurrent(_ context.Context, run, ingest string) error {
	s.made = append(s.made, run+" "+ingest)
	return nil
}

// TestResume completes the run that was compacted last.
func TestResume(t *testing.T) {
	s := &halfway{}
	if done, err := Resume(t.Context(), s, nil); done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
	if done, err := Resume(t.Context(), s, aRun("aa", nil)); !done || err != nil || !slices.Equal(s.made, []string{"aa 1"}) {
		t.Errorf("%v, %v, %v", done, err, s.made)
	}
}
