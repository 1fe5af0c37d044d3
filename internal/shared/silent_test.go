package shared

import (
	"slices"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// TestHeard: which parts are silent, until when all that are heard of have sent, and whether a run is over.
func TestHeard(t *testing.T) {
	now := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	ago := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	part := func(host, unit string, seen, last, ended int) *mapping.Part {
		p := &mapping.Part{Host: host, Unit: unit, Seen: ago(seen), Document: &mapping.Run{Run: mapping.RunInfo{Start: ago(60)}}}
		if last > 0 {
			p.Last = ago(last)
		}
		if ended > 0 {
			p.Ended = ago(ended)
		}
		return p
	}
	begun := func(p *mapping.Part, at time.Time) *mapping.Part {
		p.Document.Run.Start = at
		return p
	}
	over := func(p *mapping.Part) *mapping.Part {
		p.Over = true
		return p
	}
	tests := []struct {
		name   string
		parts  []*mapping.Part
		silent []string
		until  int // seconds ago; 0: no bound
		isOver bool
	}{
		{"none", nil, nil, 0, false},
		{"the slowest", []*mapping.Part{part("a", "job", 1, 2, 0), part("b", "job", 1, 4, 0)}, nil, 4, false},
		{"no window for a minute", []*mapping.Part{part("a", "job", 1, 2, 0), part("b", "job", 1, 0, 0)}, nil, 2, false},
		{"no window yet", []*mapping.Part{part("a", "job", 1, 2, 0), begun(part("b", "job", 1, 0, 0), ago(5))}, nil, 5, false},
		{"just not stuck", []*mapping.Part{part("a", "job", 1, 2, 0), part("b", "job", 1, 14, 0)}, nil, 14, false},
		{"stuck", []*mapping.Part{part("a", "job", 1, 2, 0), part("b", "job", 1, 15, 0)}, []string{"b: nothing completed for 15s"}, 2, false},
		{"its next stage runs", []*mapping.Part{part("a", "job", 1, 2, 0), over(part("b", "job", 1, 40, 0))}, nil, 2, false},
		{"just not silent", []*mapping.Part{part("a", "job", 6, 9, 0)}, nil, 9, false},
		{"silent", []*mapping.Part{part("a", "job", 1, 2, 0), part("b", "job", 8, 9, 0)}, []string{"b: nothing for 8s"}, 2, false},
		{"all silent", []*mapping.Part{part("a", "job", 90, 91, 0)}, []string{"a: nothing for 1m30s"}, 0, false},
		{"one of two of a host", []*mapping.Part{part("a", "x", 9, 9, 0), part("a", "y", 1, 2, 0)}, []string{"a (x): nothing for 9s"}, 2, false},
		{"one has ended", []*mapping.Part{part("a", "job", 30, 30, 30), part("b", "job", 1, 2, 0)}, nil, 2, false},
		{"all have ended", []*mapping.Part{part("a", "job", 30, 30, 30), part("b", "job", 59, 59, 59)}, nil, 0, false},
		{"over", []*mapping.Part{part("a", "job", 90, 90, 90), part("b", "job", 60, 60, 60)}, nil, 0, true},
	}
	for _, tt := range tests {
		if got := Silent(tt.parts, now); !slices.Equal(got, tt.silent) {
			t.Errorf("%s: silent %q, want %q", tt.name, got, tt.silent)
		}
		want := time.Time{}
		if tt.until > 0 {
			want = ago(tt.until)
		}
		if got := sentUntil(tt.parts, now); !got.Equal(want) {
			t.Errorf("%s: sent until %v, want %v", tt.name, got, want)
		}
		if got := isOver(tt.parts, now); got != tt.isOver {
			t.Errorf("%s: over: %t", tt.name, got)
		}
	}
}

// TestNews: a host is called silent once, and so is its return.
func TestNews(t *testing.T) {
	now := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	p := &mapping.Part{Host: "a", Unit: "job", Seen: now}
	var s Silence
	for _, step := range []struct {
		after time.Duration
		seen  bool
		want  []string
	}{{6 * time.Second, false, nil}, {time.Second, false, []string{"a: nothing for 7s"}}, {time.Second, false, nil}, {0, true, []string{"a sends again"}}, {time.Second, false, nil}} {
		if now = now.Add(step.after); step.seen {
			p.Seen = now
		}
		if got := s.News([]*mapping.Part{p}, now); !slices.Equal(got, step.want) {
			t.Errorf("at %v: %q, want %q", now, got, step.want)
		}
	}
}

// TestMerge: a run is what its parts are together.
func TestMerge(t *testing.T) {
	now := time.Date(2026, 1, 31, 9, 1, 0, 0, time.UTC)
	start := now.Add(-time.Minute)
	part := func(host string, after time.Duration, jobs int, with func(*mapping.Part)) *mapping.Part {
		began := start.Add(after)
		p := &mapping.Part{Host: host, Unit: "job", Seen: now, Last: now, Ended: now, Windows: 30, Document: &mapping.Run{
			Run: mapping.RunInfo{Start: began, End: began.Add(30 * time.Second), Complete: true}, Fio: mapping.FioInfo{Jobs: jobs, UsrCPU: float64(10 * jobs)},
			Hosts: []mapping.RunHost{{Start: began}}, Clock: mapping.Clock{ErrorMS: int64(jobs)},
			Source: mapping.Source{Files: 1, List: []mapping.SourceFile{{Path: "out.json"}}},
		}}
		if with != nil {
			with(p)
		}
		return p
	}
	run, err := Merge(&mapping.Run{IntervalMS: 1000, Run: mapping.RunInfo{Name: "night", Ingest: mapping.SharedIngest(1)}}, []*mapping.Part{
		part("a", 300*time.Millisecond, 1, nil),
		part("b", 2*time.Second, 3, func(p *mapping.Part) { p.Exit = 1 }),
		part("c", time.Second, 2, func(p *mapping.Part) { p.Document.Warnings = []string{"its disk is slow"} }),
		part("d", time.Second, 2, func(p *mapping.Part) {
			p.Ended, p.Seen, p.Document.Warnings = time.Time{}, now.Add(-9*time.Second), []string{"not yet"}
		}),
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	if !run.Run.Start.Equal(start) || !run.Run.End.Equal(start.Add(32*time.Second)) {
		t.Errorf("from %v to %v", run.Run.Start, run.Run.End)
	}
	if run.Fio.Jobs != 8 || run.Fio.UsrCPU != 22.5 || run.Documents.Host != 120 || run.Clock.ErrorMS != 3 || run.Source.Files != 4 || run.Source.List[1].Path != "b/out.json" {
		t.Errorf("%+v %+v %+v %+v", run.Fio, run.Documents, run.Clock, run.Source)
	}
	want := []string{"d: nothing for 9s", "b: fio ended with exit code 1", "c: its disk is slow", stillSend}
	if !slices.Equal(run.Warnings, want) {
		t.Errorf("warnings %q, want %q", run.Warnings, want)
	}
	for i, skew := range []int64{300, 2000, 1000, 1000} {
		if h := run.Hosts[i]; h.Name != string(rune('a'+i)) || h.SkewMS != skew {
			t.Errorf("host %+v", h)
		}
	}
}
