package report

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// tested returns a test of a night and its windows: at a depth, slower than usual by a factor, with its dots in the logs named after
// the archive.
func tested(archive string, mode string, size, depth int64, slower float64) (*mapping.Run, []*mapping.Interval) {
	doc, windows := sample(fmt.Sprintf("0/id-%s/%s%d", archive, mode, depth), slower*float64(depth))
	doc.Run.ID, doc.Run.Archive = fmt.Sprintf("%s-%s-%d-%d", archive, mode, size, depth), archive
	doc.CBT = mapping.CBT{Benchmark: "librbdfio", Mode: mode, OpSize: size, TotalIODepth: depth}
	doc.Fio.Options = nil
	for _, t := range []*mapping.Totals{doc.Read, doc.Write} {
		t.IOPS = 1000 * float64(depth) / (slower * float64(depth+4))
	}
	return doc, windows
}

// sideOf returns a run as it is compared, with its windows as often as it takes for an interval.
func sideOf(t testing.TB, doc *mapping.Run, windows []*mapping.Interval) *compare.Run {
	t.Helper()
	side := &compare.Run{Name: doc.Run.Name}
	for n := range 3 {
		for _, w := range window.RejoinAll(windows) {
			if w.Level != mapping.Cluster {
				continue
			}
			requests, err := w.Histogram()
			if err != nil {
				t.Fatal(err)
			}
			w.Start, w.End = w.Start.Add(time.Duration(n)*8*time.Second), w.End.Add(time.Duration(n)*8*time.Second)
			w.ElapsedMS += int64(n) * 8000
			side.Add(w, requests)
		}
	}
	side.End(doc)
	return side
}

// modes and depths are those of the 20 tests of a night.
var (
	modes  = []string{"randread", "randwrite", "randrw", "read"}
	depths = []int64{1, 2, 4, 8, 16}
)

// nightPage returns the page of nights with tests of modes at some depths. The second night and later ones are ten times as slow.
func nightPage(t testing.TB, o Options, modes []string, depths []int64, archives ...string) *Page {
	t.Helper()
	p := New(o)
	for i, archive := range archives {
		for k, mode := range modes {
			for _, depth := range depths {
				factor := 1.0
				if i > 0 {
					factor = 10
				}
				doc, windows := tested(archive, mode, 4096<<k, depth, factor)
				doc.Run.Start, doc.Run.End = doc.Run.Start.AddDate(0, 0, i), doc.Run.End.AddDate(0, 0, i)
				put(t, p, doc, windows)
				p.runs[len(p.runs)-1].side = sideOf(t, doc, windows)
			}
		}
	}
	return p
}

// TestNight: the page of a night is small. It has no section of a run, and nothing that needs another night.
func TestNight(t *testing.T) {
	p := nightPage(t, Options{Program: "fio2es test"}, modes, depths, "night")
	incomplete := p.runs[3].Doc
	incomplete.Run.Complete, incomplete.Warnings = false, []string{"3 of 4 volumes"}
	p.runs[4].Doc.SLA = []mapping.Verdict{{Rule: "read.p99 <= 1ms", Value: 1900, Limit: 1000}, {Rule: "write.p99 <= 1ms in 99% of windows", Value: 1, Limit: 0.99, Holds: true}}
	p.runs[5].Doc.Run.Ingest = mapping.LiveIngest(began)
	page := shown(t, p)
	checkWellFormed(t, page)
	if n := len(write(t, p)); n > 200_000 {
		t.Errorf("%d bytes", n)
	}
	for text, want := range map[string]int{
		`<article class="run"`: 0, "change</th>": 0, ">Level</th>": 0, "Against ": 0, "<h2>night</h2>": 1,
		`<h3>Best throughput</h3>`: 1, `<table class="list tests best">`: 1, `<table class="list tests">`: 1,
		"<small>at total-qd16</small>": 8, `<svg xmlns="http://www.w3.org/2000/svg" class="curves"`: 8,
		"<li>randread 4K total-qd8: incomplete: 3 of 4 volumes</li>": 1, "<li>0/id-night randwrite 8K total-qd1: live, so it is in no table</li>": 1,
		"<p>1 of 2 objectives broken.</p>": 1, `<td class="text">read.p99 &lt;= 1ms</td><td>1.90ms</td><td>1.00ms</td>`: 1,
		`href=`: 0,
	} {
		if got := strings.Count(page, text); got != want {
			t.Errorf("%d times %s, want %d", got, text, want)
		}
	}
}

// TestNights: several archives have the same tables, the newest first, and each is compared with the one before it. In a server
// tests have links to their runs.
func TestNights(t *testing.T) {
	p := nightPage(t, Options{Program: "fio2es test", Home: "../"}, modes[:1], []int64{1, 16}, "before", "after")
	page := shown(t, p)
	checkWellFormed(t, page)
	if strings.Index(page, "<h2>after</h2>") > strings.Index(page, "<h2>before</h2>") {
		t.Error("the newest night is not the first")
	}
	for text, want := range map[string]int{
		"Against the night before, before (2026-11-21 03:13:02 UTC, 2 runs): 4 worse.": 1, "<h3>What is worse</h3>": 1, "What is better": 0, "Best before": 1,
		`<a href="../runs/after-randread-4096-16">after-ra</a>`: 2, "Dotted lines are those of before.": 1,
		"run 1": 0,
	} {
		if got := strings.Count(page, text); got != want {
			t.Errorf("%d times %s, want %d", got, text, want)
		}
	}
}

// TestBaseline: the night before is found in the history, and a baseline has columns of its own. Runs of both are read once.
func TestBaseline(t *testing.T) {
	p := nightPage(t, Options{Program: "fio2es test"}, modes, depths, "night")
	var past []*mapping.Run
	read := map[string]int{}
	windows := map[string][]*mapping.Interval{}
	for i, archive := range []string{"old", "older"} {
		for _, depth := range []int64{1, 2, 32} {
			doc, of := tested(archive, "read", 4096<<3, depth, 1)
			doc.Run.Start = doc.Run.Start.AddDate(0, 0, -1-i)
			past, windows[doc.Run.ID] = append(past, doc.Light()), of
		}
	}
	err := p.Compare(t.Context(), Against{History: past, Name: "label.release=quincy", Baseline: past[3:], Read: func(_ context.Context, run *mapping.Run) (*compare.Run, error) {
		read[run.Run.ID]++
		return sideOf(t, run, windows[run.Run.ID]), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	page := shown(t, p)
	checkWellFormed(t, page)
	for text, want := range map[string]int{
		"Against the night before, old (2026-11-20 03:13:02 UTC, 3 runs): 4 ": 1, "Against the baseline, label.release=quincy (2026-11-19 03:13:02 UTC, 3 runs): 4 ": 1,
		"<th scope=\"col\">IOPS, before</th>": 2, "<th scope=\"col\">p99, baseline</th>": 2, ">too few runs</td>": 48, "<li>Only in old: read 32K total-qd32</li>": 1,
		"<small>not in old</small>": 36*2 + 8*2,
	} {
		if got := strings.Count(page, text); got != want {
			t.Errorf("%d times %s, want %d", got, text, want)
		}
	}
	if len(read) != 4 || read["old-read-32768-1"] != 1 {
		t.Errorf("read: %v", read)
	}
}
