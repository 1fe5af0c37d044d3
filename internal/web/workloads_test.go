package web

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"

	"github.com/fio2es/fio2es/mapping"
)

// workloadRuns returns runs of two workloads. From the 12th on, random writes take a third longer.
func workloadRuns() (runs []*mapping.Run) {
	for i := range 20 {
		us := 100 + float64(i%3)
		if i >= 12 {
			us *= 1.33
		}
		run, other := runOf(i, fmt.Sprint("write", i), us), runOf(i, fmt.Sprint("read", i), 100+float64(i%3))
		run.Fio.Version = map[bool]string{true: "fio-3.36", false: "fio-3.33"}[i >= 12]
		other.CBT.Mode = "randread"
		other.Read, other.Write = other.Write, nil
		runs = append(runs, run, other)
	}
	return runs
}

// TestWorkloads: runs with the same settings are one workload. Its page shows when it changed.
func TestWorkloads(t *testing.T) {
	runs := workloadRuns()
	p := serve(historyOf(t, runs...))
	write := "/workloads/" + runs[38].Run.ID
	for path, wants := range map[string][]string{
		"/workloads": {
			`<a href="workloads/` + runs[38].Run.ID + `">randwrite 4K qd4</a></td><td data-title="Runs">20</td>`, `">&#43;33.`, `data-title="Since">2026-11-21 03:25</td><td class="text verdict worse" data-title="Verdict">worse</td>`, "randread 4K qd4",
		},
		"/workloads?where=mode%3Drandread": {"randread 4K qd4"},
		"/workloads?where=mode%3Dwrite":    {"No runs meet “mode=write”. <a href=\"./\">All runs</a>"},
		write: {
			"<h1>randwrite 4K qd4</h1>", "20 runs with these settings", "p99 of writes", "IOPS of writes", `<path class="mark worse"`,
			`<a href="../compare?run=` + runs[22].Run.ID + `&amp;run=` + runs[24].Run.ID + `">compare</a>`, "since 2026-11-21 03:25: fio fio-3.36, was fio-3.33", `<a href="../runs/` + runs[0].Run.ID, `<span class="label">disk=nvme</span>`,
			`<input type="checkbox" name="run" value="` + runs[0].Run.ID, `data-title="p99">135µs</td>`,
		},
		"/workloads/" + runs[1].Run.ID: {"<h1>randread 4K qd4</h1>", "None by 3 % or more."},
	} {
		w := p.get(t, path)
		for _, want := range wants {
			if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s: %d without %s:\n%s", path, w.Code, want, body[max(strings.Index(body, "<main>"), 0):])
			}
		}
	}
	if body := p.get(t, "/workloads").Body.String(); strings.Index(body, ">randwrite 4K") > strings.Index(body, ">randread 4K") {
		t.Error("what became worse is not first")
	}
	if body := p.get(t, "/workloads?where=mode%3Drandread").Body.String(); strings.Contains(body, "randwrite 4K") {
		t.Errorf("a workload that does not meet the condition: %s", body)
	}
	for path, code := range map[string]int{"/workloads?where=mdoe%3Dx": 400, "/workloads/zzz": 404} {
		if w := p.get(t, path); w.Code != code {
			t.Errorf("%s: %d, want %d", path, w.Code, code)
		}
	}
}

// TestBoundsOfWorkloads: a percentile in the last bin has the mark of a lower bound on all pages, and a label in the
// metrics.
func TestBoundsOfWorkloads(t *testing.T) {
	var runs []*mapping.Run
	for i := range 20 {
		runs = append(runs, runOf(i, "a", map[bool]float64{true: 20e6 + float64(i), false: 100 + float64(i%3)}[i >= 12]))
	}
	p := serve(historyOf(t, runs...))
	for path, wants := range map[string][]string{
		"/workloads": {`data-title="p99">≥17.0s</td>`, `data-title="Change">-100.0 %</td>`},
		"/workloads/latest": {
			": p99 ≥17.0s</title>", "at the top 17.0s or more: fio", "p99 ≥+16", `<td data-title="Is">≥17.0s</td><td data-title="Change">≥&#43;16`,
		},
		"/":                        {"≥17.0s"},
		"/?where=mode%3Drandwrite": {`href="./workloads?where=mode%3Drandwrite"`},
		"/metrics": {
			`quantile="0.99",bound="lower"} 17.04`, `fio2es_latency_mean_seconds{workload="randwrite 4K qd4 librbdfio jobs=8 clients=2 #fcb8"`, `direction="write",bound="lower"} 17.1`, "it is that or more",
		},
	} {
		w := p.get(t, path)
		for _, want := range wants {
			if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s: %d without %s:\n%s", path, w.Code, want, body[max(strings.Index(body, "<main>"), 0):])
			}
		}
	}
}

// TestOneRun: a workload of one run has no charts, and its page says so.
func TestOneRun(t *testing.T) {
	body := serve(historyOf(t, runOf(0, "a", 100))).get(t, "/workloads/latest").Body.String()
	if strings.Contains(body, "<figure") || !strings.Contains(body, "1 run with these settings") || !strings.Contains(body, "need two runs") {
		t.Error(body[max(strings.Index(body, "<main>"), 0):])
	}
}

// TestHostileWorkloads: no text of a run becomes an element.
func TestHostileWorkloads(t *testing.T) {
	const evil = `</title><script>alert(1)</script>" onload="alert(3)`
	runs := workloadRuns()
	for i, run := range runs {
		run.CBT.Mode, run.Run.Labels = evil, map[string]string{evil: fmt.Sprint(evil, i)}
	}
	p := serve(historyOf(t, runs...))
	for _, path := range []string{"/workloads", "/workloads/" + runs[0].Run.ID, "/workloads?where=" + url.QueryEscape("mode='"+evil+"x'")} {
		if body := p.get(t, path).Body.String(); strings.Contains(body, "<script>alert") || strings.Contains(body, `" onload=`) {
			t.Errorf("%s: %s", path, body)
		}
	}
}

// TestMetrics: Prometheus can read the numbers of the latest run of each workload.
func TestMetrics(t *testing.T) {
	runs := workloadRuns()
	latest := runs[38]
	latest.SLA = []mapping.Verdict{{Rule: `write "p99" < 1ms`, Holds: true}}
	runs[39].Run.Complete = false
	w := serve(historyOf(t, runs...)).get(t, "/metrics")
	var parser expfmt.TextParser
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d, %v", w.Code, err)
	}
	got := map[string]float64{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			series := func(more ...string) string {
				return name + " " + strings.Join(slices.Sorted(slices.Values(slices.Concat(labels, more))), ",")
			}
			for _, q := range m.GetSummary().GetQuantile() {
				got[series(fmt.Sprint("quantile=", q.GetQuantile()))] = q.GetValue()
			}
			if m.Gauge != nil {
				got[series()] = m.GetGauge().GetValue()
			}
		}
	}
	of := "mode=randwrite,qd=4,%srun=" + latest.Run.ID[:8] + ",workload=randwrite 4K qd4 librbdfio jobs=8 clients=2 #fcb8"
	for name, want := range map[string]float64{
		"fio2es_latency_seconds bs=4096,direction=write," + fmt.Sprintf(of, "quantile=0.99,"): latest.Write.Latency.P99 / 1e6,
		"fio2es_iops bs=4096,direction=write," + fmt.Sprintf(of, ""):                          latest.Write.IOPS,
		"fio2es_objective_met bs=4096," + fmt.Sprintf(of, `rule=write "p99" < 1ms,`):          1,
		"fio2es_run_start_timestamp_seconds bs=4096," + fmt.Sprintf(of, ""):                   float64(latest.Run.Start.Unix()),
	} {
		if math.Abs(got[name]/want-1) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if n := len(families["fio2es_run_start_timestamp_seconds"].GetMetric()); n != 2 {
		t.Errorf("%d runs, want the latest complete one of each workload:\n%v", n, got)
	}
	for name := range got {
		if strings.Contains(name, runs[39].Run.ID[:8]) {
			t.Errorf("an incomplete run: %s", name)
		}
	}
}

// TestLiveMetrics: which rules a live run meets now. Those about every window are of its last ones, and not of the run so far.
func TestLiveMetrics(t *testing.T) {
	store, run := historyOf(t), growingRun(5)
	want := map[string]string{
		"write.iops >= 2k in every window": "0", "write.iops >= 500 in every window": "1", "write.iops > 0 for 5s": "0", // its windows stopped long ago
		"write.p99 <= 1ms": "1", "write.p99 >> 1ms": "1", // as its document has it
	}
	for rule := range want {
		run.SLA = append(run.SLA, mapping.Verdict{Rule: rule, Holds: rule != "write.iops >= 500 in every window"})
	}
	finish(t, store, run, 5)
	page := serve(store).get(t, "/metrics").Body.String()
	for rule, met := range want {
		if !regexp.MustCompile(`(?m)^fio2es_live_objective_met\{workload="[^"]+",run="` + run.Run.ID[:8] + `",.*,rule="` + rule + `"\} ` + met + `$`).MatchString(page) {
			t.Errorf("%s is not %s in\n%s", rule, met, page)
		}
	}
}
