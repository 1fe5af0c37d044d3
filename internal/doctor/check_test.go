package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/pipeline"
)

// sets are options besides those of the workload, as people use them, and what is lost with them.
var sets = []struct {
	name, options string
	lost          string // words of [kinds]
	isReal        bool   // real fio is run with it, too
}{
	{"all", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+", "", true},
	{"all, text too", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+,normal", "", false},
	{"all, absolute times", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --log_unix_epoch=1", "", false},
	{"all, rows longer than the run", "--write_hist_log=o --log_hist_msec=10000 --output-format=json+", "", true},
	{"all, one log", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --per_job_logs=0", "", true},
	{"all, groups", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --group_reporting", "", true},
	{"all, one after another", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --name=k --stonewall", "", true},
	{"no bins", "--write_hist_log=o --log_hist_msec=1000 --output-format=json", "end", true},
	{"no bins, text too", "--write_hist_log=o --log_hist_msec=1000 --output-format=json,normal", "end", false},
	{"no report", "--write_hist_log=o --log_hist_msec=1000", "end start", true},
	{"no report, absolute times", "--write_hist_log=o --log_hist_msec=1000 --log_unix_epoch=1", "end", true},
	{"no bins, rows longer than the run", "--write_hist_log=o --log_hist_msec=10000 --output-format=json", "time whole", true},
	{"no interval", "--write_hist_log=o --output-format=json+", "time", true},
	{"no interval, no report", "--write_hist_log=o", "time whole", false},
	{"coarse", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --log_hist_coarseness=3", "accuracy", true},
	{"stored packed", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --log_store_compressed=1", "time", true},
	{"packed in memory", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --log_compression=64k", "time", true},
	{"packed, periodic reports", "--output-format=json+ --log_compression=64k --status-interval=1", "", false},
	{"packed, no log", "--output-format=json+ --log_compression=64k", "time", false},
	{"no latencies", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --disable_clat=1", "time whole", true},
	{"few clock calls", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --gtod_reduce=1", "time whole", true},
	{"no percentiles", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --clat_percentiles=0", "time whole", true},
	{"bins only", "--output-format=json+", "time", true},
	{"a report only", "--output-format=json", "time whole", true},
	{"a report of a group", "--output-format=json --group_reporting", "time whole", false},
	{"a report of one job", "--output-format=json --numjobs=1", "time whole", false},
	{"periodic reports", "--status-interval=1 --output-format=json+", "", true},
	{"periodic reports without bins", "--status-interval=1 --output-format=json", "time whole", true},
	{"periodic reports, few", "--status-interval=5 --output-format=json+", "time", true},
	{"periodic reports of all directions in one", "--status-interval=1 --output-format=json+ --unified_rw_reporting=1", "time", true},
	{"completions", "--write_lat_log=o --output-format=json", "", true},
	{"completions, no report", "--write_lat_log=o", "start", true},
	{"completions, no percentiles", "--write_lat_log=o --output-format=json --clat_percentiles=0", "", false},
	{"averages", "--write_lat_log=o --log_avg_msec=500 --output-format=json", "time whole", true},
	{"averages and logs", "--write_lat_log=o --log_avg_msec=500 --write_hist_log=o --log_hist_msec=1000 --output-format=json+", "", true},
	{"one of two", "--output-format=json+ --name=k --write_hist_log=o --log_hist_msec=1000", "time", true},
	{"bandwidth", "--write_bw_log=o --output-format=json+", "time", false},
	{"clients", "--client=h --write_hist_log=o --log_hist_msec=1000 --output-format=json+", "", false},
	{"clients without bins", "--client=h --write_hist_log=o --log_hist_msec=1000 --output-format=json", "time", false},
	{"clients have no periodic reports", "--client=h --output-format=json+ --status-interval=1", "time", false},
	{"syncs", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --fsync=1", "syncs", false},
	{"syncs in periodic reports", "--status-interval=1 --output-format=json+ --fdatasync=1", "", false},
	{"syncs after nothing", "--write_hist_log=o --log_hist_msec=1000 --output-format=json+ --fsync=1 --rw=read", "", false},
	{"several", "--gtod_reduce=1 --log_hist_coarseness=2 --output-format=normal", "time whole accuracy", false},
}

// kinds are the losses, and words by which a sentence names each. Rules and results have the same words.
var kinds = []struct{ kind, words string }{
	{"time", "percentiles over time"}, {"end", "the end of each job"}, {"start", "the exact start"}, {"whole", "of the whole run"},
	{"whole", "of all jobs together"}, {"accuracy", "accuracy"}, {"syncs", "latencies of f"},
}

// lostBy returns the kinds of losses of all answers.
func lostBy(all []Answers) string {
	var found []string
	for _, k := range kinds {
		isLost := slices.ContainsFunc(all, func(a Answers) bool {
			return slices.ContainsFunc(a.texts(true), func(text string) bool { return strings.Contains(text, k.words) })
		})
		if isLost && !slices.Contains(found, k.kind) {
			found = append(found, k.kind)
		}
	}
	return strings.Join(found, " ")
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

func checked(t *testing.T, readFile func(string) ([]byte, error), words []string) []Answers {
	t.Helper()
	c, err := fioargs.Parse(words, readFile)
	if err != nil {
		t.Fatal(err)
	}
	return Check(c, fioargs.Version{}, nil)
}

// text writes all fields of answers.
func text(a *Answers) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d jobs, %s each %v, end %q, whole %s, start %s, ±%.3f\n", a.Of, a.Jobs, a.OverTime, a.Every, a.End, a.Whole, a.Start, a.Error)
	for _, f := range a.Found {
		fmt.Fprintf(&b, "\t%s\n", f.What)
		for _, c := range f.Changes {
			fmt.Fprintf(&b, "\t\t%s\n", c)
		}
	}
	return b.String()
}

// jobFile returns a set as a job file, and the options of fio itself.
func jobFile(options string) (file string, own []string) {
	lines := []string{"[global]"}
	for _, w := range words(options)[1:] {
		switch name, _, _ := strings.Cut(strings.TrimPrefix(w, "--"), "="); name {
		case "output-format", "status-interval", "client":
			own = append(own, w)
		case "name":
			lines = append(lines, "["+strings.TrimPrefix(w, "--name=")+"]")
		default:
			lines = append(lines, strings.TrimPrefix(w, "--"))
		}
	}
	return strings.Join(lines, "\n") + "\n", own
}

// apply makes the changes that were found in a command line and a job file.
func apply(t *testing.T, all []Answers, words []string, file string) ([]string, string) {
	t.Helper()
	lines := strings.Split(file, "\n")
	done := map[string]bool{}
	var added []string
	for _, f := range together(all) {
		for _, c := range f.Changes {
			where, what, _ := strings.Cut(c, ": ")
			verb, line, _ := strings.Cut(what, " ")
			old := line
			if verb == "change" {
				old, line, _ = strings.Cut(line, " to ")
			}
			at := slices.Index(words, old)
			n, _ := strconv.Atoi(strings.TrimPrefix(where, "job.fio:"))
			switch {
			case done[c]:
			case verb == "add" && strings.HasPrefix(where, fioargs.CommandLine):
				words = slices.Insert(words, 1, strings.Fields(line)...)
			case verb == "add" && where == "job.fio, [global]":
				added = append(added, line)
			case n > 0 && lines[n-1] == old && verb == "remove":
				lines[n-1] = ""
			case n > 0 && lines[n-1] == old:
				lines[n-1] = line
			case where == fioargs.CommandLine && at > 0 && verb == "remove":
				words = slices.Delete(words, at, at+1)
			case where == fioargs.CommandLine && at > 0:
				words[at] = line
			default:
				t.Fatalf("%q cannot be done to %q and\n%s", c, words, strings.Join(lines, "\n"))
			}
			done[c] = true
		}
	}
	return words, "[global]\n" + strings.Join(append(added, lines...), "\n")
}

// TestCheck: what is lost with each set, as a command line and as a job file, and that nothing is after the changes.
func TestCheck(t *testing.T) {
	for _, s := range sets {
		t.Run(s.name, func(t *testing.T) {
			line := words(s.options)
			all := checked(t, nil, line)
			if got := lostBy(all); got != s.lost {
				t.Errorf("lost: %q, want %q: %s", got, s.lost, text(&all[0]))
			}
			if s.name == "clients have no periodic reports" {
				return // only histogram logs mend it, and these say the rest
			}
			line, _ = apply(t, all, line, "")
			if again := checked(t, nil, line); len(Causes(again)) > 0 {
				t.Errorf("%q: %s", line, text(&again[0]))
			}

			file, own := jobFile(s.options)
			reader := func(string) ([]byte, error) { return []byte(file), nil }
			line = append([]string{"fio", "job.fio"}, own...)
			all = checked(t, reader, line)
			if got := lostBy(all); got != s.lost {
				t.Errorf("of a job file lost: %q, want %q", got, s.lost)
			}
			line, file = apply(t, all, line, file)
			if again := checked(t, reader, line); len(Causes(again)) > 0 {
				t.Errorf("%q with\n%s: %s", line, file, text(&again[0]))
			}
		})
	}
}

// TestMessages: each cause is one message with its changes, of all sections that have it.
func TestMessages(t *testing.T) {
	const file = "[one]\nwrite_hist_log=x\nlog_hist_msec=1000\n[two]\nrw=write\nfdatasync=1\n[three]\nstonewall\ngtod_reduce=1\n"
	c, err := fioargs.Parse([]string{"fio", "job.fio"}, func(string) ([]byte, error) { return []byte(file), nil })
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Write(&b, Check(c, fioargs.Version{}, &Machine{}), table.Text); err != nil {
		t.Fatal(err)
	}
	const want = `lost: three: percentiles over time and of the whole run: gtod_reduce leaves the latencies out of logs and reports
  job.fio:9: remove gtod_reduce=1
lost: two, three: percentiles over time: fio writes no histogram logs
  job.fio, [global]: add write_hist_log=job
  job.fio, [global]: add log_hist_msec=1000
lost: one: the end of each job (up to 1s, which fio does not log) and the exact start: fio writes no report with bins (json+)
lost: two, three: the exact numbers of the whole run (fio prints rounded ones): fio writes no report with bins (json+)
lost: two: latencies of fdatasync over time: fio measures them apart from those of writes, and only periodic reports have them (json+)
  command line: add --output-format=json+ --output=job.json
  command line: add --status-interval=1
note: one, three: without direct=1 the page cache answers requests in place of the device: add it, or direct=0 if this is meant
`
	if b.String() != want {
		t.Errorf("got\n%s, want\n%s", b.String(), want)
	}
}

// TestVersions: what depends on the version of fio.
func TestVersions(t *testing.T) {
	const all = "fio --write_hist_log=o --log_hist_msec=1000 --output-format=json+ --direct=1 --name=a "
	for _, tt := range []struct {
		options string
		version fioargs.Version
		want    string
	}{
		{"", fioargs.Version{Major: 3, Minor: 16}, "percentiles over time of each job with a latency of 786.432µs or more: the fio here is fio-3.16, "},
		{"--status-interval=1", fioargs.Version{Major: 3, Minor: 16}, ""},
		{"", fioargs.Version{Major: 3, Minor: 17}, ""},
		{"--name=b --stonewall", fioargs.Version{Major: 3, Minor: 35}, "the start of each stage is known by the times of files alone, "},
		{"--name=b --stonewall --status-interval=1", fioargs.Version{Major: 3, Minor: 35}, ""},
		{"--log_unix_epoch=1 --name=b --log_unix_epoch=1 --stonewall", fioargs.Version{Major: 3, Minor: 35}, ""},
		{"--name=b --stonewall", fioargs.Version{Major: 3, Minor: 36}, ""},
	} {
		c, err := fioargs.Parse(strings.Fields(all+tt.options), nil)
		if err != nil {
			t.Fatal(err)
		}
		a := Check(c, tt.version, &Machine{})[0]
		if len(a.Found) > 1 || len(a.Found) == 1 != (tt.want != "") || len(a.Found) == 1 && !strings.HasPrefix(a.Found[0].What, tt.want) {
			t.Errorf("%s of %v: %s", tt.options, tt.version, text(&a))
		}
	}
}

// TestRealFio runs fio with some of the sets. What was said to be lost is lost for ingest, and nothing else is.
func TestRealFio(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	for _, s := range sets {
		if !s.isReal {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			wrong := ""
			for range 3 { // repeated, because on a busy machine fio may report late
				if wrong = differs(t, fio, s.options, s.lost); wrong == "" {
					return
				}
				t.Log(wrong)
			}
			t.Error(wrong)
		})
	}
}

// differs returns how what is lost of a run of fio differs from what was expected.
func differs(t *testing.T, fio, options, want string) string {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	args := words(options)[1:]
	if strings.Contains(options, "json") { // else fio's normal output would be a report
		args = append([]string{"--output=out.json"}, args...)
	}
	cmd := exec.Command(fio, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	archive, err := pipeline.Open(context.Background(), []string{dir}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if len(archive.Runs) != 1 {
		t.Fatalf("%d runs", len(archive.Runs))
	}
	all, notes, err := Examine(context.Background(), archive.Runs[0], pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := lostBy(all); got != want || want == "" && (len(Causes(all)) > 0 || len(notes) > 0) {
		var b strings.Builder
		for _, a := range all {
			b.WriteString(text(&a))
		}
		return fmt.Sprintf("lost: %q, want %q:\n%s%v", got, want, b.String(), notes)
	}
	return ""
}

// FuzzCheck: any command line and job file that can be parsed can be checked, and each cause is named once.
func FuzzCheck(f *testing.F) {
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
		all := Check(c, fioargs.Version{Major: 3, Minor: 16}, Here())
		if len(all) != len(c.Jobs) {
			t.Fatalf("%d answers of %d sections", len(all), len(c.Jobs))
		}
		for _, a := range all {
			options := map[string]bool{}
			for _, f := range a.Found {
				if options[f.Option] {
					t.Errorf("%s is named twice: %s", f.Option, text(&a))
				}
				options[f.Option] = true
			}
		}
	})
}
