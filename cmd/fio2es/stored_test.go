package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

var storedStart = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// storedWindow returns a document of a run that began at storedStart. from and to are in milliseconds.
func storedWindow(direction string, elapsed, from, to int64, h *hist.Histogram) *mapping.Interval {
	at := func(ms int64) time.Time { return storedStart.Add(time.Duration(ms) * time.Millisecond) }
	lat := mapping.NewLatency(h, nil)
	n := lat.Bins.Total()
	return &mapping.Interval{
		Time: at(from), Level: mapping.Cluster, Window: mapping.Window{End: at(to), MS: to - from, ElapsedMS: elapsed},
		Run: mapping.RunRef{ID: "aa", Name: "run aa", Start: storedStart, Ingest: "1"}, Fio: mapping.FioRef{Direction: direction},
		Latency: lat, Requests: mapping.Requests{Completed: n, Weight: h.Total()}, DocCount: n,
		IOPS: float64(n) * 1000 / float64(to-from), Bandwidth: float64(n) * 4096 * 1000 / float64(to-from),
	}
}

func historyOf(t *testing.T, runs []*mapping.Run, windows ...*mapping.Interval) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "h.db")
	store, err := sqlite.Open(t.Context(), file)
	check(t, err)
	defer store.Close()
	check(t, store.Put(t.Context(), windows))
	for _, r := range runs {
		check(t, store.Finish(t.Context(), r))
	}
	return file
}

// plainJSON returns a run of one job whose report has no bins, without a log.
func plainJSON() *mapping.Run {
	fio := &mapping.FioLatency{Min: 2.5, Mean: 45.75, Max: 20_000, StdDev: 3}
	for _, p := range [][2]float64{{50, 40.5}, {95, 60}, {99, 90.5}, {99.9, 1200}, {99.99, 19_000}} {
		fio.Percentiles = append(fio.Percentiles, mapping.FioPercentile{Rank: p[0], Value: p[1]})
	}
	total := mapping.Totals{Requests: 4000, IOPS: 1000, DurationMS: 4000, Means: mapping.Means{Clat: 45.75}, Latency: mapping.Latency{Mean: 45.75}}
	read := total
	read.Fio = fio
	return &mapping.Run{
		Run: mapping.RunInfo{ID: "ff00", Name: "plain", Archive: "lab", Start: storedStart, End: storedStart.Add(4 * time.Second), Ingest: "1", Complete: true},
		Fio: mapping.FioInfo{Jobs: 1, Version: "fio-3.33"}, Hosts: []mapping.RunHost{{Jobs: 1, Start: storedStart}},
		Levels: []mapping.Level{mapping.Cluster, mapping.Host}, All: &total, Read: &read,
		NoWindows: "no histogram log: run fio with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+",
	}
}

// TestNoWindows: commands that need windows say why there are none. Others show totals, and mark fio's own figures.
func TestNoWindows(t *testing.T) {
	t.Parallel()
	file := historyOf(t, []*mapping.Run{plainJSON()})
	const why = "no histogram log: run fio with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	on := func(code int, command string, args ...string) (stdout, stderr string) {
		return outAndErr(t, code, append([]string{command, "--history", file}, args...)...)
	}
	out, errs := on(0, "percentiles", "latest")
	expect(t, "percentiles", out, "40.5µs*", "90.5µs*", "20.0ms*", facts.FioNote)
	expect(t, "percentiles", errs, "note: plain: "+why)
	if _, errs = on(0, "percentiles", "ff00", "--total"); errs != "" {
		t.Errorf("--total asks for no windows: %s", errs)
	}
	out, _ = on(0, "percentiles", "latest", "--format", "json")
	expect(t, "percentiles", out, `"p75_us":null`, `"p99_us":90.5`, `"source":"fio"`)
	out, _ = on(0, "percentiles", "latest", "--format", "csv")
	expect(t, "percentiles", out, ",45.75,40.5,,,60,90.5,1200,19000,20000,,fio,,,,,,,,,,,,,,\n")
	out, _ = on(0, "runs")
	expect(t, "runs", out, "90.5µs*", "no windows", facts.FioNote)
	out, _ = on(0, "runs", "--sort", "p99", "--format", "csv")
	expect(t, "runs", out, ",,fio,,,,,,,,,,,,,,,0,0,no windows,,\n")
	for _, args := range [][]string{
		{"heatmap", "latest"}, {"rank", "latest", "--within", "1ms"}, {"rank", "latest", "--within", "1ms", "--from", "+1s"},
		{"export", "latest", "--as", "csv"}, {"export", "latest", "--as", "openmetrics", "--windows"},
		{"heatmap", "latest", "--job", "1"},
	} {
		_, errs := on(1, args[0], args[1:]...)
		expect(t, strings.Join(args, " "), errs, "error: plain: "+why)
	}
	out, errs = on(0, "compare", "latest", "latest")
	expect(t, "compare", out, "90.5µs*", "no interval")
	expect(t, "compare", errs, "no interval, because not all runs have windows")
	out, errs = on(3, "sla", "latest", "--rule", "iops >= 500", "--rule", "p99 <= 1ms in every window")
	expect(t, "sla", out, "met", "unknown", "the run has no windows")
	expect(t, "sla", errs, why)
	page := filepath.Join(t.TempDir(), "page.html")
	_, errs = on(0, "report", "latest", "-o", page)
	expect(t, "report", errs, why)
	html, err := os.ReadFile(page)
	check(t, err)
	expect(t, "report", string(html), `<p class="note">no histogram log: run fio with`, "90.5µs<small>fio&#39;s own</small>")
}

// TestStoredOptions: options that apply only to logs are errors for stored runs, unless there are paths, too.
func TestStoredOptions(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	h.AddAt(500, 10)
	total := mapping.Totals{Requests: 10, Latency: mapping.NewLatency(h, nil)}
	run := &mapping.Run{
		Run:        mapping.RunInfo{ID: "aa", Name: "run aa", Start: storedStart, End: storedStart.Add(4 * time.Second), Ingest: "1"},
		IntervalMS: 1000, Weighting: "inflight", Levels: []mapping.Level{mapping.Cluster}, All: &total, Read: &total, Documents: mapping.Documents{Cluster: 4},
	}
	var windows []*mapping.Interval
	for i := range int64(4) {
		windows = append(windows, storedWindow("read", i*1000, i*1000, i*1000+1000, h))
	}
	file := historyOf(t, []*mapping.Run{run}, windows...)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--interval", "auto"}, "--interval auto: "}, {[]string{"--interval", "1500ms"}, "use a multiple, such as 2s, 5s or 10s"},
		{[]string{"--interval", "500ms"}, "is stored in windows of 1s"},
	} {
		_, errs := outAndErr(t, 2, append([]string{"percentiles", "aa", "--history", file}, c.args...)...)
		expect(t, strings.Join(c.args, " "), errs, c.want)
	}
	out, errs := outAndErr(t, 0, "percentiles", "aa", "--history", file, "--interval", "2s", "--format", "csv")
	if n := strings.Count(out, ",cluster,"); n != 2 || errs != "" {
		t.Errorf("%d windows: %s%s", n, out, errs)
	}
	for _, command := range [][]string{
		{"heatmap", "aa", "--format", "csv"}, {"export", "aa", "--as", "csv"}, {"rank", "aa", "--within", "1ms", "--from", "+1s"},
		{"sla", "aa", "--rule", "iops >= 1 in every window"}, {"report", "aa", "-o", "-"},
	} {
		outAndErr(t, 0, append(command, "--history", file, "--interval", "4s")...)
	}
	path := filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw")
	t.Setenv("FIO2ES_WEIGHTING", "completion") // a setting for logs
	const noted = "note: FIO2ES_WEIGHTING has no effect on runs in the history"
	_, errs = outAndErr(t, 0, "compare", "aa", path, "--history", file, "--metrics", "iops")
	expect(t, "compare", errs, noted, "weighting completion, not inflight")
	_, errs = outAndErr(t, 0, "percentiles", "aa", "--history", file)
	expect(t, "percentiles", errs, noted)
}

// TestNothingChosen: an empty answer says what there is instead.
func TestNothingChosen(t *testing.T) {
	t.Parallel()
	h := hist.New(hist.Fio3(0))
	h.AddAt(500, 10)
	total := mapping.Totals{Requests: 10, Latency: mapping.NewLatency(h, nil)}
	run := &mapping.Run{
		Run: mapping.RunInfo{
			ID: "aa", Name: "run aa", Archive: "lab", Start: storedStart, End: storedStart.Add(4 * time.Second), Ingest: "1",
			Labels: map[string]string{"disk": "nvme"},
		},
		CBT: mapping.CBT{Benchmark: "librbdfio", Mode: "randread"}, Hosts: []mapping.RunHost{{Name: "h1"}, {Name: "h2"}},
		IntervalMS: 1000, All: &total, Read: &total, Documents: mapping.Documents{Cluster: 1, Host: 1, Job: 1},
	}
	var windows []*mapping.Interval
	for level := mapping.Cluster; level <= mapping.Job; level++ {
		d := storedWindow("read", 0, 0, 1000, h)
		d.Level = level
		if level > mapping.Cluster {
			d.Host.Name = "h1"
		}
		if level == mapping.Job {
			d.Fio.Job = "7"
		}
		run.Levels, windows = append(run.Levels, level), append(windows, d)
	}
	file := historyOf(t, []*mapping.Run{run}, windows...)
	const lasted = "the run lasted from 2026-11-21 10:00:00.000 to 2026-11-21 10:00:04.000 UTC (+0s to +4s)"
	for _, c := range []struct{ flags, want string }{
		{"--from +90s", "run aa: no requests match --from +90s: " + lasted},
		{"--from +1h --direction trim", "no requests match --from +1h --direction trim: the run has reads; " + lasted},
		{"--host h3", "no requests match --host h3: its hosts: h1, h2"},
		{"--job 8", "no requests match --job 8: its jobs: 7"},
	} {
		flags := append(strings.Fields(c.flags), "--history", file)
		commands := [][]string{{"heatmap", "aa"}, {"rank", "aa", "--within", "1ms"}, {"export", "aa", "--as", "json"}}
		if !strings.Contains(c.flags, "--host") && !strings.Contains(c.flags, "--job") {
			commands = append(commands, []string{"report", "aa", "-o", "-"}, []string{"show", "aa"})
		}
		for _, command := range commands {
			_, errs := outAndErr(t, 1, append(command, flags...)...)
			expect(t, fmt.Sprint(command, c.flags), errs, c.want)
		}
		_, errs := outAndErr(t, 3, append([]string{"sla", "aa", "--rule", "p99 <= 1s"}, flags...)...)
		expect(t, "sla "+c.flags, errs, c.want)
	}
	_, errs := outAndErr(t, 0, "runs", "--history", file, "nothing", "--where", "start>=2026-01-01 and label.disk=hdd")
	expect(t, "runs", errs, "no runs match; ", "has 1 run: started", "; label.disk=hdd: no run")
	_, errs = outAndErr(t, 1, "percentiles", "--history", file, "bb")
	expect(t, "percentiles", errs, "neither a path nor a run: bb: no such run: the history has 1 run: started")
}

// TestBaselineOfSections: sections are compared with the same sections of earlier runs, by their own totals.
func TestBaselineOfSections(t *testing.T) {
	t.Parallel()
	section := func(name, rw string, p99 float64) mapping.RunSection {
		total := mapping.Totals{Requests: 2000, IOPS: 500, DurationMS: 4000, Latency: mapping.Latency{Mean: p99 / 2}, Fio: &mapping.FioLatency{
			Min: 2.5, Mean: p99 / 2, Max: 20_000, Percentiles: []mapping.FioPercentile{{Rank: 50, Value: p99 / 2}, {Rank: 99, Value: p99}},
		}}
		s := mapping.RunSection{Name: name, Jobs: 1, CBT: mapping.CBT{Mode: rw, OpSize: 4096, IODepth: 1}, Options: map[string]string{"rw": rw, "bs": "4k"}, All: &total}
		if s.Read = &total; rw == "randwrite" {
			s.Read, s.Write = nil, &total
		}
		return s
	}
	var runs []*mapping.Run
	for i, p99 := range []float64{80, 80, 160} {
		run := plainJSON()
		run.Run.ID, run.Run.Start, run.Run.End = fmt.Sprintf("ff0%d", i), storedStart.AddDate(0, 0, i), storedStart.AddDate(0, 0, i).Add(4*time.Second)
		run.Sections = []mapping.RunSection{section("reader", "randread", p99), section("writer", "randwrite", 40)}
		run.Read, run.Write, run.Fio.Jobs = run.Sections[0].Read, run.Sections[1].Write, 2
		runs = append(runs, run)
	}
	file := historyOf(t, runs)
	out, _ := outAndErr(t, 0, "compare", "--history", file, "--section", "reader", "--baseline", "last:2", "latest", "--metrics", "p99")
	expect(t, "one section", out, "read  p99     80.0µs*  160µs*")
	if strings.Contains(out, "write") {
		t.Errorf("requests of another section: %s", out)
	}
	out, _ = outAndErr(t, 0, "compare", "--history", file, "--by", "section", "--baseline", "last:2", "latest", "--metrics", "p99")
	expect(t, "each section", out, "workload  reader", "workload  writer", "80.0µs*  160µs*", "40.0µs*")
	out, _ = outAndErr(t, 0, "compare", "--history", file, "--section", "writer", "latest~1", "latest", "--metrics", "p99")
	expect(t, "two runs", out, "40.0µs*  40.0µs*")
}
