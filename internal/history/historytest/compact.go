package historytest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/compact"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// long returns a run of n seconds: one-second windows of the cluster, two hosts and their jobs.
func long(name string, n int) (*mapping.Run, []*mapping.Interval) {
	var docs []*mapping.Interval
	run := NewRun(name, "1")
	run.Run.End, run.IntervalMS, run.Levels, run.Documents = Start.Add(time.Duration(n)*time.Second), 1000, mapping.Levels[:], mapping.Documents{}
	for i := range n {
		for k, s := range []struct {
			level                mapping.Level
			direction, host, job string
		}{
			{mapping.Cluster, "read", "", ""}, {mapping.Cluster, "write", "", ""},
			{mapping.Host, "read", "a", ""}, {mapping.Host, "read", "b", ""},
			{mapping.Job, "read", "a", "1"}, {mapping.Job, "read", "b", "1"}, {mapping.Job, "read", "b", "2"},
		} {
			if i > 0 && (i+k)%11 == 0 { // no request completed
				continue
			}
			d := Interval(name, "1", i)
			d.Level, d.Fio.Direction, d.Host.Name, d.Fio.Job, d.Bandwidth = s.level, s.direction, s.host, s.job, 4096*d.IOPS
			docs = append(docs, d)
			run.Documents.Add(s.level, 1)
		}
	}
	return run, docs
}

// requests returns how many requests the documents of each series count.
func requests(docs []*mapping.Interval) map[string]int64 {
	sums := map[string]int64{}
	for _, d := range docs {
		sums[strings.Join([]string{d.Level.String(), d.Fio.Direction, d.Host.Name, d.Fio.Job}, " ")] += d.DocCount
	}
	return sums
}

// checkMinutes compares stored one-minute documents with one-second documents. Package compact tests the histograms.
func checkMinutes(t *testing.T, s history.Store, run *mapping.Run, seconds []*mapping.Interval) {
	t.Helper()
	var all []*mapping.Interval
	have := mapping.Documents{}
	for _, level := range mapping.Levels {
		for _, d := range collect(t, s.Intervals(t.Context(), history.Selection{Runs: []string{run.Run.ID}, Level: level})) {
			have.Add(level, 1)
			if all = append(all, d); d.Window.ElapsedMS%60_000 != 0 || d.Run.Labels["release"] != "squid" || d.Run.Ingest != run.Run.Ingest {
				t.Errorf("%+v", d)
			}
		}
	}
	equal(t, run.Documents, have, "documents")
	equal(t, requests(seconds), requests(all), "requests")
}

// checkSound checks that a history needs no repair.
func checkSound(t *testing.T, s history.Store) {
	t.Helper()
	_, err := history.Check(t.Context(), s, false, func(f history.Finding) { t.Errorf("%+v", f) })
	if err != nil {
		t.Error(err)
	}
}

func testCompact(t *testing.T, s history.Store) {
	run, docs := long("a", 65)
	other, others := long("b", 20)
	put(t, s, docs...)
	put(t, s, others...)
	finish(t, s, run, other)
	at := Start.AddDate(0, 3, 0)
	for _, length := range []time.Duration{10 * time.Second, time.Minute} { // the second time from windows of 10 s
		_, after, err := compact.Run(t.Context(), s, run.Run.ID, length, at)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Run(t.Context(), run.Run.ID)
		if err != nil || !gocmp.Equal(got, after) {
			t.Fatalf("%v: %s", err, gocmp.Diff(after, got))
		}
		want := *run
		want.Run.Ingest, want.Documents, want.IntervalMS = got.Run.Ingest, got.Documents, length.Milliseconds()
		want.Run.Compacted = mapping.Compacted{From: "1", IntervalMS: 1000, At: at}
		if !gocmp.Equal(&want, got) || got.Run.Ingest == "1" {
			t.Errorf("%s", gocmp.Diff(&want, got))
		}
		counts, err := s.Count(t.Context(), []string{run.Run.ID})
		if err != nil || !counts.IsWhole(got) || !counts.IsCurrent(got) {
			t.Errorf("%+v, %v", counts, err)
		}
		checkSound(t, s)
	}
	got, err := s.Run(t.Context(), run.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	checkMinutes(t, s, got, docs)
	if got.Documents != (mapping.Documents{Cluster: 4, Host: 4, Job: 6}) {
		t.Errorf("%+v", got.Documents)
	}
	if _, _, err := compact.Run(t.Context(), s, run.Run.ID, time.Minute, at); !errors.Is(err, history.ErrReplaced) {
		t.Errorf("compacted twice: %v", err)
	}
	expect(t, s, history.Selection{Runs: []string{other.Run.ID}, Level: mapping.Host}, ordered(others, mapping.Host))
}

// ordered returns the documents of a level in the order of a store.
func ordered(docs []*mapping.Interval, level mapping.Level) []*mapping.Interval {
	list := filtered(docs, func(d *mapping.Interval) bool { return d.Level == level })
	slices.SortFunc(list, byKey)
	return list
}

// interrupting is a store that fails at one step.
type interrupting struct {
	history.Store
	putting, finishing func() error
}

func (s interrupting) Put(ctx context.Context, docs []*mapping.Interval) error {
	if err := s.putting(); err != nil {
		return err
	}
	return s.Store.Put(ctx, docs)
}

func (s interrupting) Finish(ctx context.Context, run *mapping.Run) error {
	if err := s.finishing(); err != nil {
		return err
	}
	return s.Store.Finish(ctx, run)
}

// testCompactInterrupted: readers see the shorter windows until the longer ones are complete. A second call does the
// rest.
func testCompactInterrupted(t *testing.T, s history.Store) {
	run, docs := long("a", 65)
	put(t, s, docs...)
	finish(t, s, run)
	stop := errors.New("killed")
	none := func() error { return nil }
	for _, at := range []interrupting{
		{s, func() error { return stop }, none},
		{s, none, func() error { return stop }},
	} {
		if _, _, err := compact.Run(t.Context(), at, run.Run.ID, time.Minute, Start); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		expect(t, s, history.Selection{Runs: []string{run.Run.ID}, Level: mapping.Host}, ordered(docs, mapping.Host))
		if got, err := s.Run(t.Context(), run.Run.ID); err != nil || got.Run.Ingest != "1" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	_, after, err := compact.Run(t.Context(), s, run.Run.ID, time.Minute, Start)
	if err != nil {
		t.Fatal(err)
	}
	checkMinutes(t, s, after, docs)
	checkSound(t, s)
}

// testCompactReplaced: a version that is ingested during compact stays, and so do labels set during it.
func testCompactReplaced(t *testing.T, s history.Store) {
	run, docs := long("a", 70)
	put(t, s, docs...)
	finish(t, s, run)
	meanwhile := interrupting{s, func() error {
		_, err := s.Annotate(t.Context(), run.Run.ID, mapping.Annotation{Labels: map[string]string{"disk": "nvme"}})
		return err
	}, func() error { return nil }}
	if _, _, err := compact.Run(t.Context(), meanwhile, run.Run.ID, 10*time.Second, Start); err != nil {
		t.Fatal(err)
	}
	if after, err := s.Run(t.Context(), run.Run.ID); err != nil || after.Run.Labels["disk"] != "nvme" || after.IntervalMS != 10_000 {
		t.Fatalf("%+v, %v", after, err)
	}
	for _, d := range collect(t, s.Intervals(t.Context(), history.Selection{Runs: []string{run.Run.ID}, Level: mapping.Job})) {
		if d.Run.Labels["disk"] != "nvme" || d.Window.MS != 10_000 {
			t.Fatalf("%+v", d)
		}
	}
	again := Intervals("a", "2", 3)
	version := NewRun("a", "2")
	version.Documents = mapping.Documents{Cluster: 3}
	meanwhile.putting = func() error {
		return cmp.Or(s.Put(t.Context(), again), s.Finish(t.Context(), version))
	}
	if _, _, err := compact.Run(t.Context(), meanwhile, run.Run.ID, time.Minute, Start); err == nil {
		t.Error("it replaced a newer version")
	}
	for _, d := range again {
		d.Relabel(&mapping.RunInfo{Labels: map[string]string{"release": "squid", "run": "a", "disk": "nvme"}, Edited: map[string]string{"disk": ""}})
	}
	expect(t, s, history.Selection{Runs: []string{run.Run.ID}}, again)
	checkSound(t, s)
}
