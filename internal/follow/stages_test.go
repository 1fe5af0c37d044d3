package follow

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
)

const stageSeconds = 8

// stages are sections with a stonewall. Each serves 1,000 reads a second, in these nanoseconds.
var stages = []struct {
	name    string
	latency int64
}{{"fill", 99840}, {"qd1", 501760}, {"qd16", 99840}}

// runStages writes what fio writes while three stages run: a report each second, and a histogram log when a job ends.
func runStages(t *testing.T, dir string, start time.Time) {
	file := filepath.Join(dir, "out.json")
	for n := 1; n <= len(stages)*stageSeconds; n++ {
		time.Sleep(time.Until(start.Add(time.Duration(n) * time.Second)))
		var jobs []string
		for i, stage := range stages {
			served := min(max(n-i*stageSeconds, 0), stageSeconds)
			ran := served
			if served == 0 {
				ran = n // how long it has waited
			}
			jobs = append(jobs, fmt.Sprintf(`{"jobname": %q, "groupid": %d, "job options": {"write_hist_log": "x", "log_hist_msec": "1000"},
"job_runtime": %d, "read": {"total_ios": %[4]d, "io_bytes": %[5]d, "runtime": %[4]d, "clat_ns": {"bins": {"%[6]d": %[4]d}}}}`,
				stage.name, i, ran*1000, served*1000, served*4096000, stage.latency))
			if served == stageSeconds && n == (i+1)*stageSeconds {
				var rows strings.Builder
				counts := make([]string, hist.Fio3(0).Len())
				for c := range counts {
					counts[c] = "0"
				}
				counts[hist.Fio3(0).Index(stage.latency)] = "1000"
				for second := 1; second <= stageSeconds; second++ {
					fmt.Fprintf(&rows, "%d, 0, 4096, %s\n", second*1000, strings.Join(counts, ", "))
				}
				write(t, filepath.Join(dir, fmt.Sprintf("x_clat_hist.%d.log", i+1)), []byte(rows.String()))
			}
		}
		// spaces, because the budget of the input knows how long reports of fio are
		write(t, file, fmt.Appendf(nil, "{%s\"fio version\": \"fio-3.33\", \"timestamp_ms\": %d, \"jobs\": [%s]\n}\n", strings.Repeat(" ", 5000),
			start.Add(time.Duration(n)*time.Second).UnixMilli(), strings.Join(jobs, ", ")))
	}
}

// TestStages: following continues through all stages, though fio writes logs when the first one ends, whose name is the
// run's from then on. Each stage is a run, live and over, and its windows come once. Watch goes through the same stages.
// Rules are checked in each stage.
func TestStages(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		rule, err := slo.Parse("p99 <= 200us")
		check(t, err)
		p.options.Rules = []slo.Rule{rule}
		p.options.Ingest.Pipeline.Weighting = align.Completion
		start := time.Now()
		waitFio := later(0, func() { runStages(t, p.dir, start) })
		var watched []string
		waitWatch := later(7500*time.Millisecond, func() { // Follow stores at whole seconds
			run, err := Watch(t.Context(), p.store, p.only().Run.ID, time.Second, slog.New(slog.DiscardHandler), func(run *mapping.Run, w *window.Window) error {
				if run.Run.ID != w.Run.ID || run.Run.Stages != len(stages) {
					t.Errorf("a window of %s with run %+v", w.Run.ID, run.Run)
				}
				watched = append(watched, run.Run.ID)
				return nil
			})
			if err != nil || run.Run.Stage != len(stages) || run.Run.Live() {
				t.Errorf("%v, %v", run, err)
			}
		})
		waitLook := later(21*time.Second, func() {
			for _, run := range p.runs() {
				if run.All.IOPS != 1000 || !run.Run.Live() {
					t.Errorf("while it is live: %s %g", run.Run.Name, run.All.IOPS)
				}
			}
		})
		result := p.follow(t.Context())
		waitFio()
		waitLook()
		waitWatch()
		runs := p.runs()
		slices.SortFunc(runs, func(a, b *mapping.Run) int { return a.Run.Stage - b.Run.Stage })
		if len(runs) != len(stages) || !result.Broken {
			t.Fatalf("%d runs, %+v\n%s", len(runs), result, p.said())
		}
		given := map[string]int{}
		for _, w := range p.windows {
			given[w.Run.ID]++
			if w.Completed != 1000 || w.IOPS != 1000 || w.Run.Stages != len(stages) {
				t.Errorf("%s: %d requests, %g a second in the window until %v", w.Run.Name, w.Completed, w.IOPS, w.End)
			}
		}
		for i, run := range runs {
			if run.Run.Name != "x/"+stages[i].name || run.Run.Live() || run.Run.Execution != runs[0].Run.Execution || run.All.Requests != 1000*stageSeconds {
				t.Errorf("run %+v", run.Run)
			}
			seen := len(slices.DeleteFunc(slices.Clone(watched), func(id string) bool { return id != run.Run.ID }))
			if given[run.Run.ID] != stageSeconds || seen != stageSeconds {
				t.Errorf("%s: %d windows, and %d were watched, want %d", run.Run.Name, given[run.Run.ID], seen, stageSeconds)
			}
		}
		for _, want := range []string{"following 002:out/fill, 1 of 3", "following 002:x/qd1, 2 of 3", "following 002:x/qd16, 3 of 3",
			`level=WARN msg="sla p99 <= 200us: 002:x/qd1: so far, read p99: `, `level=ERROR msg="sla p99 <= 200us: 002:x/qd1: read p99: `} {
			if !strings.Contains(p.said(), want) {
				t.Errorf("no message %s", want)
			}
		}
		if text := p.said(); strings.Contains(text, "met again") || strings.Contains(text, "removed") {
			t.Error(text)
		}
	})
}
