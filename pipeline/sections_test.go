package pipeline_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestSections: the sections of a run have all of its requests, each those of its jobs in fio's report. The windows of a
// section are the sums of those of its jobs.
func TestSections(t *testing.T) {
	docs, res := readRun(t, filepath.Join("..", "testdata", "corpus", "trim-write-read"), "out",
		pipeline.Options{Levels: []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job, mapping.Section}})
	var names []string
	sums := map[string]int64{}
	for _, s := range res.Run.Sections {
		names = append(names, s.Name+" "+s.CBT.Mode)
		for _, d := range s.ByDirection() {
			sums[d.Direction] += d.Requests
			if d.Latency.P50 == 0 || d.Latency.Bins.Total() != d.Requests {
				t.Errorf("%s: %d of %d %ss in bins, p50 %v", s.Name, d.Latency.Bins.Total(), d.Requests, d.Direction, d.Latency.P50)
			}
		}
	}
	if got := strings.Join(names, ", "); got != "readwrite randrw, trimwrite trimwrite, trim randtrim" {
		t.Errorf("sections: %s", got)
	}
	for _, d := range res.Run.ByDirection() {
		if sums[d.Direction] != d.Requests {
			t.Errorf("%ss: sections have %d requests, the run %d", d.Direction, sums[d.Direction], d.Requests)
		}
	}
	if s := res.Run.Sections[0]; s.Read.Requests != 289 || s.Trim != nil || s.All.Requests != s.Read.Requests+s.Write.Requests {
		t.Errorf("the first section: %+v, %+v", s.Read, s.All)
	}
	bins := map[mapping.Level]map[string]*hist.Histogram{mapping.Job: {}, mapping.Section: {}}
	for _, w := range window.RejoinAll(docs) {
		if of := bins[w.Level]; of != nil {
			key := fmt.Sprint(w.Section, w.Direction, w.ElapsedMS)
			if of[key] == nil {
				of[key] = &hist.Histogram{}
			}
			h, err := w.Histogram()
			if err != nil {
				t.Fatal(err)
			}
			of[key].Merge(h)
		}
	}
	of := func(l mapping.Level) map[string]string {
		texts := map[string]string{}
		for key, h := range bins[l] {
			texts[key] = fmt.Sprint(h.Bins())
		}
		return texts
	}
	if diff := cmp.Diff(of(mapping.Job), of(mapping.Section)); diff != "" || len(bins[mapping.Section]) < 5 {
		t.Errorf("windows of jobs by section (-) and of sections (+):\n%s", diff)
	}
	if _, one := readRun(t, filepath.Join("..", "testdata", "corpus", "stalls"), "out", pipeline.Options{}); len(one.Run.Sections) > 0 || one.Run.Documents.Section > 0 {
		t.Errorf("jobs that did the same have %d sections, %d documents", len(one.Run.Sections), one.Run.Documents.Section)
	}
}

// TestDescribed: interval documents have what the document of their run has, and those of a section and of its jobs the settings
// of the section.
func TestDescribed(t *testing.T) {
	docs, res := ingested(t, filepath.Join("..", "testdata", "corpus", "trim-write-read"), pipeline.Options{Levels: mapping.Levels[:]})
	modes := map[mapping.Level]string{}
	for _, d := range docs {
		want := *d
		if want.Describe(res.Run); d.Run.Execution == "" || d.Workload.ID == "" {
			t.Fatalf("%+v", d)
		}
		if diff := cmp.Diff(&want, d); diff != "" {
			t.Fatalf("level %v, section %s (-as the run says):\n%s", d.Level, d.Fio.Section, diff)
		}
		if !strings.Contains(modes[d.Level], d.CBT.Mode) {
			modes[d.Level] += " " + d.CBT.Mode
		}
	}
	want := map[mapping.Level]string{mapping.Section: " randrw randtrim trimwrite", mapping.Job: " randrw trimwrite randtrim"}
	if diff := cmp.Diff(want, modes); diff != "" {
		t.Error(diff)
	}
}

// TestReadAgain: a stage can be read several times, as the sections of a run are.
func TestReadAgain(t *testing.T) {
	for stage, err := range pipeline.Stages(t.Context(), openRuns(t, "", filepath.Join("..", "testdata", "corpus", "trim-write-read"))[0], pipeline.Options{}, false) {
		if err != nil {
			t.Fatal(err)
		}
		var totals [2]*mapping.Run
		for i := range totals {
			n := int64(0)
			res, err := stage.Read(t.Context(), []mapping.Level{mapping.Section}, func(w *window.Window) error { n += w.Completed; return nil })
			if err != nil || res.Run == nil || n != res.Run.All.Requests {
				t.Fatalf("reading %d: %d requests, %v, %v", i+1, n, res, err)
			}
			totals[i] = res.Run
		}
		if diff := cmp.Diff(totals[0], totals[1]); diff != "" {
			t.Errorf("read a second time: %s", diff)
		}
	}
}
