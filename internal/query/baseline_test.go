package query

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// nights returns the runs of n nights of two workloads, the newest first: a1, b1, a2, b2, and so on.
func nights(n int) (list []*mapping.Run) {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1000, 10)
	for i := range n {
		for depth, workload := range []string{"a", "b"} {
			run := &mapping.Run{Documents: mapping.Documents{Cluster: 10}}
			run.Run = mapping.RunInfo{
				ID: fmt.Sprint(workload, i+1), Name: "run", Archive: "night", Complete: true,
				Start: time.Date(2026, 1, 31-i, depth, 0, 0, 0, time.UTC),
			}
			run.CBT.IODepth = int64(depth + 1)
			run.Read = &mapping.Totals{Latency: mapping.NewLatency(h, nil)}
			list = append(list, run)
		}
	}
	return list
}

// TestBaseline: a baseline has the runs before a run with its settings, or those that meet a condition, but never
// the run itself.
func TestBaseline(t *testing.T) {
	all := nights(6)
	byID := map[string]*mapping.Run{}
	for _, run := range all {
		byID[run.Run.ID] = run
	}
	byID["a3"].Run.Complete = false
	byID["a5"].Documents = mapping.Documents{}
	for _, c := range []struct {
		text, of string
		want     string // ids, then the notes or the error
	}{
		{"last:1", "a1", "a2"},
		{"last:1", "b2 b3", "b4"},
		{"last:2", "a1", "a2 a4; 1 run left out: not complete"},
		{"last:3", "a1", "a2 a4 a6; 1 run left out: not complete; 1 run left out: no windows with percentiles"},
		{"last:9", "b4", "b5 b6; last:9: only 2 runs of the settings of night:run qd2 before it"},
		{"last:1", "b6", "error last:1: no run before night:run qd2 has its settings; the nearest, night:run qd1, has iodepth 1, not 2"},
		{"start <= 2026-01-27 and iodepth = 1", "b1", "error start <= 2026-01-27 and iodepth = 1: no run has the same settings as night:run qd2; the nearest, night:run qd1, has iodepth 1, not 2"},
		{"id = a3", "a1", "error id = a3: no run with the settings of night:run qd1 can be compared with it"},
		{"start < 2026-01-28", "b1", "b5 b6"},
		{"start >= 2026-01-28", "b2", "b1 b3 b4"},
	} {
		b, err := ParseBaseline(c.text, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		filter := b.Filter()
		var of, from []*mapping.Run
		for _, run := range all {
			if filter.Matches(run) {
				from = append(from, run)
			}
		}
		for _, id := range strings.Fields(c.of) {
			copied := *byID[id]
			of = append(of, &copied)
		}
		list, notes, err := b.Of(of, from)
		var ids []string
		for _, run := range list {
			ids = append(ids, run.Run.ID)
		}
		got := strings.Join(append([]string{strings.Join(ids, " ")}, notes...), "; ")
		if err != nil {
			got = "error " + err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s of %s: %s", c.text, c.of, diff)
		}
		for _, run := range of {
			run.Run.ID = "" // like a run read from files
		}
		if again, _, err := b.Of(of, from); len(again) != len(list) {
			t.Errorf("%s of files: %d runs, %v", c.text, len(again), err)
		}
	}
	for text, want := range map[string]string{
		"last:0": "want last:N", "last:x": "want last:N", "last:": "want last:N", "nosuchfield=1": "column 1: no field",
		"latest": "want last:N, or a condition", "same-as:a": "want last:N, or a condition", "4f1d": "want last:N, or a condition",
	} {
		if _, err := ParseBaseline(text, time.Now()); err == nil || !strings.HasPrefix(err.Error(), text+": "+want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
