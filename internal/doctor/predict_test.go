package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// sets are options besides those of the workload, as people use them.
var sets = []struct{ name, options string }{
	{"all", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+"},
	{"all, text too", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+,normal"},
	{"all, absolute times", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --log_unix_epoch=1"},
	{"all, a row each 2 s", "--write_hist_log=o --log_hist_msec=2000 --output-format=json+"},
	{"all, rows longer than the run", "--write_hist_log=o --log_hist_msec=10000 --output-format=json+"},
	{"all, one log", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --per_job_logs=0"},
	{"all, groups", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --group_reporting"},
	{"all, one after another", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --name=k --stonewall"},
	{"no bins", "--write_hist_log=o --log_hist_msec=1000 --output-format=json"},
	{"no bins, text too", "--write_hist_log=o --log_hist_msec=1000 --output-format=json,normal"},
	{"no bins, one log", "--write_hist_log=o --log_hist_msec=1000 --output-format=json --per_job_logs=0"},
	{"no report", "--write_hist_log=o --log_hist_msec=1000"},
	{"no report, absolute times", "--write_hist_log=o --log_hist_msec=1000 --log_unix_epoch=1"},
	{"no bins, rows longer than the run", "--write_hist_log=o --log_hist_msec=10000 --output-format=json"},
	{"no interval", "--write_hist_log=o --output-format=json+"},
	{"no interval, no report", "--write_hist_log=o"},
	{"coarse", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --log_hist_coarseness=3"},
	{"stored packed", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --log_store_compressed=1"},
	{"packed in memory", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --log_compression=64k"},
	{"no latencies", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --disable_clat=1"},
	{"few clock calls", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --gtod_reduce=1"},
	{"no percentiles", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --clat_percentiles=0"},
	{"bins only", "--output-format=json+"},
	{"a report only", "--output-format=json"},
	{"a report of a group", "--output-format=json --group_reporting"},
	{"a report of one job", "--output-format=json --numjobs=1"},
	{"periodic reports", "--status-interval=1 --output-format=json+"},
	{"periodic reports without bins", "--status-interval=1 --output-format=json"},
	{"periodic reports, few", "--status-interval=5 --output-format=json+"},
	{"periodic reports and logs", "--status-interval=1 --output-format=json+ --write_hist_log=o --log_hist_msec=1000"},
	{"completions", "--write_lat_log=o --output-format=json"},
	{"completions, no report", "--write_lat_log=o"},
	{"completions and logs", "--write_lat_log=o --write_hist_log=o --log_hist_msec=1000 --output-format=json+"},
	{"averages", "--write_lat_log=o --log_avg_msec=500 --output-format=json"},
	{"averages and bins", "--write_lat_log=o --log_avg_msec=500 --output-format=json+"},
	{"averages and logs", "--write_lat_log=o --log_avg_msec=500 --write_hist_log=o --log_hist_msec=1000 --output-format=json+"},
	{"one of two", "--output-format=json+ --name=k --write_hist_log=o --log_hist_msec=1000"},
	{"one of two, averages of the other, no bins", "--output-format=json --write_bw_log=o --name=k --write_hist_log=o --log_hist_msec=1000"},
	{"bandwidth", "--write_bw_log=o --output-format=json+"},
}

// workload has the options that all sets share. They are options of --name=j.
const workload = "--ioengine=null --size=100g --rw=randrw --rate_iops=500 --runtime=4 --time_based --numjobs=2"

// words returns the command line of a set.
func words(options string) []string {
	before, after, _ := strings.Cut(options, " --name=k")
	line := "fio " + workload + " " + before + " --name=j"
	if after != "" {
		line += " --name=k" + after
	}
	return strings.Fields(line)
}

func predict(t *testing.T, readFile func(string) ([]byte, error), words []string) []Answers {
	t.Helper()
	c, err := fioargs.Parse(words, readFile)
	if err != nil {
		t.Fatal(err)
	}
	return Predict(c, fioargs.Version{}, nil)
}

// text writes all fields of answers.
func text(a *Answers) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d jobs, %s each %v, end %q, whole %s, start %s, ±%.3f\n", a.Of, a.Jobs, a.From, a.Every, a.End, a.Whole, a.Start, a.Error)
	for _, l := range a.Lost {
		fmt.Fprintf(&b, "\tlost: %s\n", l.What)
		for _, c := range l.Changes {
			fmt.Fprintf(&b, "\t\t%s: %q to %q\n", c.Where, c.Old, c.Line)
		}
	}
	return b.String()
}

func TestPredict(t *testing.T) {
	var got strings.Builder
	for _, s := range sets {
		fmt.Fprintf(&got, "# %s: %s\n", s.name, s.options)
		for _, a := range predict(t, nil, words(s.options)) {
			got.WriteString(text(&a))
		}
	}
	golden.File(t, filepath.Join("testdata", "predict.golden"), got.String())
}

// jobFile returns a set as a job file, and the options of fio itself.
func jobFile(options string) (file string, own []string) {
	lines := []string{"[global]"}
	for _, w := range words(options)[1:] {
		switch name, _, _ := strings.Cut(strings.TrimPrefix(w, "--"), "="); name {
		case "output-format", "status-interval":
			own = append(own, w)
		case "name":
			lines = append(lines, "["+strings.TrimPrefix(w, "--name=")+"]")
		default:
			lines = append(lines, strings.TrimPrefix(w, "--"))
		}
	}
	return strings.Join(lines, "\n") + "\n", own
}

// apply makes the changes in a command line and a job file.
func apply(t *testing.T, changes []Change, words []string, file string) ([]string, string) {
	t.Helper()
	lines := strings.Split(file, "\n")
	for _, c := range changes {
		old := slices.Index(words, c.Old)
		at, isLine := strings.CutPrefix(c.Where, "job.fio:")
		switch n, _ := strconv.Atoi(at); {
		case c.Old == "" && strings.HasPrefix(c.Where, fioargs.CommandLine):
			words = slices.Insert(words, 1, strings.Fields(c.Line)...)
		case c.Old == "" && strings.HasPrefix(c.Where, "job.fio:"): // in a section that is not the last
			at, _, _ = strings.Cut(at, ",")
			n, _ = strconv.Atoi(at)
			lines = slices.Insert(lines, n, c.Line)
		case c.Old == "" && c.Where == "job.fio, [global]":
			lines = append([]string{"[global]", c.Line}, lines...)
		case isLine && n > 0 && lines[n-1] == c.Old:
			lines[n-1] = c.Line
		case c.Where == fioargs.CommandLine && old > 0 && c.Line == "":
			words = slices.Delete(words, old, old+1)
		case c.Where == fioargs.CommandLine && old > 0:
			words[old] = c.Line
		default:
			t.Fatalf("%+v cannot be done to %q and\n%s", c, words, strings.Join(lines, "\n"))
		}
	}
	return words, strings.Join(lines, "\n")
}

// TestChanges makes the proposed changes. Then nothing is lost.
func TestChanges(t *testing.T) {
	for _, s := range sets {
		t.Run(s.name, func(t *testing.T) {
			line := words(s.options)
			line, _ = apply(t, Changes(predict(t, nil, line)), line, "")
			for _, a := range predict(t, nil, line) {
				if len(a.Lost) > 0 || !a.hasPercentiles() || a.Whole != Percentiles || a.End != Complete {
					t.Errorf("%q: %s", line, text(&a))
				}
			}

			file, own := jobFile(s.options)
			reader := func(string) ([]byte, error) { return []byte(file), nil }
			line = append([]string{"fio", "job.fio"}, own...)
			// Replacements come first, because added lines change the line numbers.
			changes := Changes(predict(t, reader, line))
			slices.SortStableFunc(changes, func(a, b Change) int { return len(b.Old) - len(a.Old) })
			line, file = apply(t, changes, line, file)
			for _, a := range predict(t, reader, line) {
				if len(a.Lost) > 0 {
					t.Errorf("%q with\n%s: %s", line, file, text(&a))
				}
			}
		})
	}
}

// TestSections: each section is judged separately, and gets its own lines if others have some.
func TestSections(t *testing.T) {
	file := "[one]\nwrite_hist_log=x\nlog_hist_msec=1000\n[two]\nrw=read\n"
	reader := func(string) ([]byte, error) { return []byte(file), nil }
	all := predict(t, reader, strings.Fields("fio --output-format=json+ job.fio"))
	if len(all) != 2 || len(all[0].Lost) > 0 || len(all[1].Lost) != 1 || !IsLossy(all) || IsLossy(all[:1]) {
		t.Fatalf("got %+v", all)
	}
	want := []Change{{Where: "job.fio:4, [two]", Line: "write_hist_log=job"}, {Where: "job.fio:4, [two]", Line: "log_hist_msec=1000"}}
	if got := Changes(all); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestClient: rows of fio --client can be used if bins prove how they were added up.
func TestClient(t *testing.T) {
	for format, want := range map[string]plan.Source{"json": plan.FromNothing, "json+": plan.FromHist} {
		a := predict(t, nil, strings.Fields("fio --client=h --write_hist_log=o --log_hist_msec=1000 --output-format="+format+" --name=a"))[0]
		if a.From != want || (len(a.Lost) > 0) != (want == plan.FromNothing) {
			t.Errorf("%s: %s", format, text(&a))
		}
	}
}

// TestCombinations: the plan weighs options of several sections against each other. Real fio 3.33 gives the same answers.
func TestCombinations(t *testing.T) {
	const hist = "--write_hist_log=o --log_hist_msec=1000 "
	for _, c := range []struct {
		name, options, want string // of each section: source, length of windows, evidence for the start
	}{
		{"client, completions, no report", "--client=h --write_lat_log=o --name=a", "completions 1s mtime"},
		{"client, completions and logs, no report", "--client=h --write_lat_log=o " + hist + "--name=a", "nothing 0s mtime"},
		{"client, bins", "--client=h --output-format=json+ " + hist + "--name=a", "histogram log 1s mtime"},
		{"client has no periodic reports", "--client=h --output-format=json+ --status-interval=1 --name=a", "nothing 0s mtime"},
		{"averages beside logs packed in memory", "--output-format=json+ --log_compression=64k --write_bw_log=o " + hist + "--name=a", "averages 0s report"},
		{"averages that are packed, too", "--output-format=json+ --log_store_compressed=1 --write_bw_log=o " + hist + "--name=a", "nothing 0s report"},
		{"averages beside rows longer than the run", "--output-format=json+ --runtime=3 --name=a --write_bw_log=o --name=b --write_hist_log=o --log_hist_msec=9000",
			"averages 0s report, nothing 0s report"},
		{"stonewall", "--output-format=json+ " + hist + "--runtime=4 --name=a --name=b --stonewall", "histogram log 1s mtime, histogram log 1s mtime"},
		{"stonewall, periodic reports", "--output-format=json --status-interval=1 " + hist + "--runtime=4 --name=a --name=b --stonewall",
			"histogram log 1s report, histogram log 1s report"},
		{"stonewall, no logs", "--output-format=json+ --runtime=4 --name=a --name=b --stonewall", "nothing 0s report, nothing 0s report"},
		{"ramp_time before a stonewall", "--output-format=json+ --ramp_time=2 " + hist + "--runtime=4 --name=a --name=b --stonewall",
			"histogram log 1s mtime, histogram log 1s mtime"},
		{"absolute times, no row", "--output-format=json+ --log_unix_epoch=1 " + hist + "--runtime=1 --name=a", "histogram log 1s report"},
		{"absolute times, one row", "--output-format=json+ --log_unix_epoch=1 " + hist + "--runtime=2 --name=a", "histogram log 1s log_unix_epoch"},
		{"two lengths of rows", "--output-format=json+ " + hist + "--name=a --name=b --log_hist_msec=2000", "histogram log 2s report, histogram log 2s report"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, a := range predict(t, nil, strings.Fields("fio "+c.options)) {
				got = append(got, fmt.Sprint(a.From, " ", a.Every, " ", a.Start))
			}
			if got := strings.Join(got, ", "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestRealFio runs fio with each set, and compares the prediction with the result of ingest. The answers must be
// equal. There must be a warning if a loss was predicted, and otherwise none.
func TestRealFio(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	dir := t.TempDir()
	folder := func(i, try int) string { return filepath.Join(dir, fmt.Sprint(i, "-", try), "run") }
	run := func(i, try int) {
		if err := os.MkdirAll(folder(i, try), 0o755); err != nil {
			t.Error(err)
		}
		args := words(sets[i].options)[1:]
		if strings.Contains(sets[i].options, "json") { // else fio's normal output would be a report
			args = append([]string{"--output=out.json"}, args...)
		}
		cmd := exec.Command(fio, args...)
		cmd.Dir = folder(i, try)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", sets[i].name, err, out)
		}
	}
	var all sync.WaitGroup
	atOnce := make(chan struct{}, 8)
	for i := range sets {
		all.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			run(i, 0)
		})
	}
	all.Wait()
	for i, s := range sets {
		t.Run(s.name, func(t *testing.T) {
			want := joined(predict(t, nil, words(s.options)))
			wrong := differs(t, want, folder(i, 0))
			// repeated, because on a busy machine fio may report late
			for try := 1; wrong != "" && try < 3; try++ {
				t.Log(wrong)
				run(i, try)
				wrong = differs(t, want, folder(i, try))
			}
			if wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// differs returns how the result of ingest differs from a prediction.
func differs(t *testing.T, want Answers, dir string) string {
	got, results := examineFolder(t, dir)
	if got.Start == "job_start" || want.Start == "mtime" && got.Start == "report" {
		got.Start = want.Start // fio 3.36 reports the start, and so do the lengths of stages
	}
	apart := math.Abs(got.Every.Seconds()-want.Every.Seconds()) / max(want.Every.Seconds(), 1)
	if got.From != want.From || apart > 0.05 || got.End != want.End || got.Whole != want.Whole || got.Start != want.Start ||
		got.Error != want.Error || (len(got.Lost) > 0) != (len(want.Lost) > 0) {
		return fmt.Sprintf("predicted\n%sfound\n%s", text(&want), text(&got))
	}
	var warnings []string
	for _, result := range results {
		for _, w := range result.Run.Warnings {
			if result.Run.Placed == "" || !strings.HasSuffix(w, result.Run.Placed) {
				warnings = append(warnings, w)
			}
		}
	}
	if len(want.Lost) == 0 && len(warnings) > 0 {
		return fmt.Sprintf("nothing was to be lost, but ingest warns: %q", warnings)
	}
	return ""
}

// joined returns what is known about a run of several sections: the worst of their answers. It ignores sections
// without latencies over time.
func joined(all []Answers) (a Answers) {
	a = all[0]
	for _, other := range all[1:] {
		lost := append(a.Lost, other.Lost...)
		if !a.hasPercentiles() || other.End == Cut {
			a = other
		}
		a.Lost = lost
	}
	return a
}

// examineFolder examines the only execution in a folder, which may have several stages.
func examineFolder(t *testing.T, dir string) (Answers, []*pipeline.Result) {
	t.Helper()
	archive, err := pipeline.Open(context.Background(), []string{dir}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if len(archive.Runs) != 1 {
		t.Fatalf("%d runs", len(archive.Runs))
	}
	a, results, err := Examine(context.Background(), archive.Runs[0], pipeline.Options{})
	if err != nil || slices.ContainsFunc(results, func(r *pipeline.Result) bool { return r.Run == nil }) {
		t.Fatal(err, results)
	}
	return joined(a), results
}

// FuzzPredict: for any command line and job file that can be parsed, there are answers for each section, and changes
// for each loss.
func FuzzPredict(f *testing.F) {
	for _, s := range sets {
		file, own := jobFile(s.options)
		f.Add(strings.Join(own, "\n"), file)
	}
	f.Fuzz(func(t *testing.T, own, file string) {
		c, err := fioargs.Parse(append(append([]string{"fio"}, strings.Split(own, "\n")...), "job.fio"), func(name string) ([]byte, error) {
			if name != "job.fio" {
				return nil, fs.ErrNotExist
			}
			return []byte(file), nil
		})
		if err != nil {
			return
		}
		all := Predict(c, fioargs.Version{Major: 3, Minor: 16}, Here())
		if len(all) != len(c.Jobs) {
			t.Fatalf("%d answers of %d sections", len(all), len(c.Jobs))
		}
		for _, a := range all {
			for _, l := range a.Lost {
				if len(l.Changes) == 0 {
					t.Errorf("nothing to do about %q", l.What)
				}
			}
		}
	})
}
