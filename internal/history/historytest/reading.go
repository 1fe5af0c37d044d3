package historytest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// byKey compares documents in the order that Intervals promises.
func byKey(a, b *mapping.Interval) int {
	return cmp.Or(
		a.Time.Compare(b.Time), cmp.Compare(a.Fio.Direction, b.Fio.Direction), cmp.Compare(a.Host.Name, b.Host.Name),
		cmp.Compare(a.Fio.Job, b.Fio.Job), cmp.Compare(a.Fio.Section, b.Fio.Section), cmp.Compare(a.Run.ID, b.Run.ID), cmp.Compare(a.Part, b.Part),
	)
}

// testSelection: documents are stored in another order than they are read.
func testSelection(t *testing.T, s history.Store) {
	docs := append(grid("a"), grid("b")...)
	slices.SortFunc(docs, byKey)
	mixed := slices.Clone(docs)
	for i := range mixed { // a fixed shuffle: 53 and the length have no common factor
		mixed[i] = docs[i*53%len(docs)]
	}
	put(t, s, mixed...)
	a, b := NewRun("a", "g"), NewRun("b", "g")
	finish(t, s, a, b)
	at := func(n int) time.Time { return Start.Add(time.Duration(n) * time.Second) }
	for _, c := range []struct {
		sel  history.Selection
		want func(*mapping.Interval) bool
	}{
		{history.Selection{}, func(d *mapping.Interval) bool { return d.Level == mapping.Cluster }},
		{history.Selection{Level: mapping.Section}, func(d *mapping.Interval) bool { return d.Level == mapping.Section }},
		{history.Selection{Level: mapping.Host}, func(d *mapping.Interval) bool { return d.Level == mapping.Host }},
		{
			history.Selection{Level: mapping.Job, Runs: []string{a.Run.ID}},
			func(d *mapping.Interval) bool { return d.Level == mapping.Job && d.Run.Name == "a" },
		},
		{
			history.Selection{Level: mapping.Job, Runs: []string{b.Run.ID, a.Run.ID, "none"}},
			func(d *mapping.Interval) bool { return d.Level == mapping.Job },
		},
		{
			history.Selection{Level: mapping.Host, Hosts: []string{"host-1", "x"}, Directions: []string{"read", "trim"}},
			func(d *mapping.Interval) bool {
				return d.Level == mapping.Host && d.Host.Name == "host-1" && d.Fio.Direction == "read"
			},
		},
		{
			history.Selection{From: at(1), To: at(3)},
			func(d *mapping.Interval) bool {
				return d.Level == mapping.Cluster && !d.Time.Before(at(1)) && d.Time.Before(at(3))
			},
		},
		{
			history.Selection{From: at(1).Add(time.Nanosecond)},
			func(d *mapping.Interval) bool { return d.Level == mapping.Cluster && d.Time.After(at(1)) },
		},
		{history.Selection{Runs: []string{"none"}}, func(*mapping.Interval) bool { return false }},
		{history.Selection{Runs: []string{a.Run.ID[:10]}}, func(*mapping.Interval) bool { return false }},
		{history.Selection{Hosts: []string{`"; DROP TABLE runs; --`}}, func(*mapping.Interval) bool { return false }},
	} {
		expect(t, s, c.sel, filtered(docs, c.want))
	}
}

// testParts: a document with more requests than one document can have is stored in parts.
func testParts(t *testing.T, s history.Store) {
	d := Interval("a", "1", 0)
	h := hist.New(hist.Fio3(0))
	h.AddAt(700, 5e9)
	h.AddAt(701, 3)
	d.Latency = mapping.NewLatency(h, nil)
	d.DocCount = d.Latency.Bins.Total()
	parts := d.Split()
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	put(t, s, parts[2], parts[0], parts[1])
	finish(t, s, NewRun("a", "1"))
	expect(t, s, history.Selection{}, parts)
}

// testLarge: all bins of the finest layout, labels of all kinds, thousands of files.
func testLarge(t *testing.T, s history.Store) {
	h := hist.New(hist.Fio3(0))
	for i := range h.Layout().Len() {
		h.AddAt(i, float64(1+i*i))
	}
	docs, run := Intervals("a", "1", 3), NewRun("a", "1")
	for _, d := range docs {
		d.Latency = mapping.NewLatency(h, nil)
		d.DocCount = d.Latency.Bins.Total()
		d.Run.Labels = map[string]string{"note": strings.Repeat("läng ", 500), "a \"b\\ü": "\x00\"\\"}
	}
	docs = append(append(docs[0].Split(), docs[1].Split()...), docs[2].Split()...)
	for i := range 3000 {
		run.Source.List = append(run.Source.List, mapping.SourceFile{Path: fmt.Sprintf("folder/%d.log", i), Bytes: int64(i)})
	}
	put(t, s, docs...)
	finish(t, s, run)
	expect(t, s, history.Selection{}, docs)
	isStored(t, s, run)
}

// testRefused: with one bad document, none of the batch is stored.
func testRefused(t *testing.T, s history.Store) {
	docs := Intervals("a", "1", 100)
	docs[70].DocCount++
	if err := s.Put(t.Context(), docs); !errors.Is(err, mapping.ErrDocCount) {
		t.Errorf("put: %v", err)
	}
	run := NewRun("a", "1")
	finish(t, s, run)
	expect(t, s, history.Selection{}, nil)
	run.Run.ID = ""
	if err := s.Finish(t.Context(), run); !errors.Is(err, mapping.ErrIdentity) {
		t.Errorf("finish: %v", err)
	}
}

// testBreak: readers that stop early, or that use the store while they read, leave nothing behind.
func testBreak(t *testing.T, s history.Store) {
	_, docs := store(t, s, "a", "1", 20)
	finish(t, s, NewRun("b", "1"))
	for range 5 {
		for run, err := range s.Runs(t.Context(), history.RunFilter{}) {
			if err != nil {
				t.Fatal(err)
			}
			for range s.Intervals(t.Context(), history.Selection{Runs: []string{run.Run.ID}}) {
				break
			}
			finish(t, s, NewRun("c", "1")) // writing while reading works, too
			break
		}
	}
	expect(t, s, history.Selection{}, docs)
}

func testCancel(t *testing.T, s history.Store) {
	_, docs := store(t, s, "a", "1", 60)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range s.Intervals(ctx, history.Selection{}) {
		if n++; n == 3 {
			cancel()
		}
		last = err
	}
	if last != nil && !errors.Is(last, context.Canceled) || last == nil && n != len(docs) {
		t.Errorf("after %d documents: %v", n, last) // an answer under way may still arrive, but then it is complete
	}
	for what, err := range map[string]error{
		"put": s.Put(ctx, docs), "finish": s.Finish(ctx, NewRun("b", "1")), "delete": s.Delete(ctx, docs[0].Run.ID),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.Run(ctx, docs[0].Run.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("run: %v", err)
	}
	expect(t, s, history.Selection{}, docs)
}

func testDelete(t *testing.T, s history.Store) {
	store(t, s, "a", "1", 4)
	_, docs := store(t, s, "b", "1", 4)
	put(t, s, Intervals("unfinished", "1", 2)...)
	for _, name := range []string{"a", "unfinished"} {
		id := ID(name)
		if err := s.Delete(t.Context(), id); err != nil {
			t.Errorf("delete %s: %v", name, err)
		}
		if err := s.Delete(t.Context(), id); !errors.Is(err, history.ErrNotFound) {
			t.Errorf("delete %s again: %v", name, err)
		}
	}
	if err := s.Delete(t.Context(), docs[0].Run.ID[:10]); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("delete a prefix: %v", err)
	}
	expect(t, s, history.Selection{}, docs)
	finish(t, s, NewRun("a", "1")) // the new run does not bring back old documents
	expect(t, s, history.Selection{}, docs)
}
