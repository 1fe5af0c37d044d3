package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// corpus is a run of fio with 15 periodic reports and the logs that fio wrote at its end.
var corpus = filepath.Join("..", "..", "testdata", "corpus", "status-interval")

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// reports returns the periodic reports of the corpus.
func reports(t *testing.T) [][]byte {
	t.Helper()
	text := golden.Gunzip(t, filepath.Join(corpus, "out.json.gz"))
	return bytes.SplitAfter(text, []byte("\n}\n"))
}

// report returns the report after n seconds of a run with 1,000 reads per second.
func report(start time.Time, n int) []byte {
	return fmt.Appendf(nil, `{"fio version": "fio-3.33", "timestamp_ms": %d, "jobs": [{"jobname": "a", "job_runtime": %[2]d000,
"read": {"total_ios": %[2]d000, "io_bytes": %[3]d, "runtime": %[2]d000, "clat_ns": {"bins": {"99840": %[2]d000}}}}]
}
`, start.Add(time.Duration(n)*time.Second).UnixMilli(), n, n*4096000)
}

// write appends text to a file and sets its modification time to the clock of the test.
func write(t *testing.T, file string, text ...[]byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	check(t, err)
	_, err = f.Write(bytes.Join(text, nil))
	check(t, err)
	check(t, f.Close())
	touch(t, file)
}

func touch(t *testing.T, file string) {
	t.Helper()
	now := time.Now()
	check(t, os.Chtimes(file, now, now))
}

// copyLogs copies the logs of the corpus.
func copyLogs(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"out_clat_hist.1.log.gz", "out_clat_hist.2.log.gz"} {
		text, err := os.ReadFile(filepath.Join(corpus, name))
		check(t, err)
		write(t, filepath.Join(dir, name), text)
	}
}

// place is a followed folder, a history and all messages, in a synctest bubble. Only one goroutine reads logs,
// because several would wait for a mutex, and the clock of the bubble stands still meanwhile.
type place struct {
	t       *testing.T
	dir     string
	store   *sqlite.Store
	options Options

	mu       sync.Mutex
	messages bytes.Buffer
	windows  []*window.Window
}

// Write implements [io.Writer] for the logger.
func (p *place) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.messages.Write(text)
}

// said returns the messages so far.
func (p *place) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.messages.String()
}

// inPlace runs a test in a bubble. Follow looks each second, and a run is over after ten seconds.
func inPlace(t *testing.T, test func(t *testing.T, p *place)) {
	t.Parallel()
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := &place{t: t, dir: filepath.Join(root, "002")}
		check(t, os.Mkdir(p.dir, 0o755))
		var err error
		p.store, err = sqlite.Open(t.Context(), filepath.Join(root, "history.db"))
		check(t, err)
		defer p.store.Close()
		log := slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{Level: slog.LevelDebug}))
		p.options = Options{
			Ingest: ingest.Options{Pipeline: pipeline.Options{Levels: []mapping.Level{mapping.Cluster}, Workers: 1}, Log: log},
			Paths:  []string{p.dir}, Wanted: func(string, string) bool { return true },
			Every: time.Second, Quiet: 10 * time.Second, Idle: 10 * time.Second,
			Window: func(w *window.Window) error { p.windows = append(p.windows, w); return nil },
		}
		test(t, p)
	})
}

func (p *place) target() ingest.Target {
	return ingest.Target{Sink: ingest.Annotate(p.store, p.options.Rules), Store: p.store}
}

// follow follows the folder until nothing changes any more, or ctx ends.
func (p *place) follow(ctx context.Context) Result {
	p.t.Helper()
	result, err := Follow(ctx, p.target(), p.options)
	check(p.t, err)
	return result
}

// ingest stores the contents of the folder.
func (p *place) ingest() {
	p.t.Helper()
	archive, err := pipeline.Open(p.t.Context(), p.options.Paths, nil, nil)
	check(p.t, err)
	defer archive.Close()
	_, err = ingest.Runs(p.t.Context(), p.target(), archive.Runs, p.options.Ingest)
	check(p.t, err)
}

// runs returns the runs of the history.
func (p *place) runs() (runs []*mapping.Run) {
	p.t.Helper()
	for run, err := range p.store.Runs(p.t.Context(), history.RunFilter{}) {
		check(p.t, err)
		runs = append(runs, run)
	}
	return runs
}

// only returns the only run of the history.
func (p *place) only() *mapping.Run {
	p.t.Helper()
	runs := p.runs()
	if len(runs) != 1 {
		p.t.Fatalf("%d runs in the history\n%s", len(runs), p.said())
	}
	return runs[0]
}

// later calls f after some time. wait returns when f has returned.
func later(after time.Duration, f func()) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(after)
		f()
	}()
	return func() { <-done }
}

// TestFollow: a run is in the history while it is live. When it is over, its windows are those of its files.
func TestFollow(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		const seconds = 40
		file, start := filepath.Join(p.dir, "out.json"), time.Now()
		var stored []string
		p.options.Stored = func(context.Context) bool {
			stored = append(stored, fmt.Sprint("live ", p.only().Run.Live()))
			return true
		}
		wait := later(0, func() {
			for n := 1; n <= seconds; n++ {
				time.Sleep(time.Second)
				write(t, file, report(start, n))
			}
			// A window is complete when no later request can have been in flight in it.
			if run := p.only(); !run.Run.Live() || run.Documents.Cluster < seconds/2-5 {
				t.Errorf("while fio writes: live %v, %d documents", run.Run.Live(), run.Documents.Cluster)
			}
		})
		if result := p.follow(t.Context()); !result.LeftOut || strings.Join(stored, ", ") != "live false" {
			t.Errorf("stored: %v, want a call when the run is over; left out: %v", stored, result.LeftOut)
		}
		wait()
		if run := p.only(); run.Run.Live() || !run.Run.Complete || run.Documents.Cluster != seconds {
			t.Errorf("when it is over: live %v, complete %v, %d documents", run.Run.Live(), run.Run.Complete, run.Documents.Cluster)
		}
		archive, err := pipeline.Open(t.Context(), p.options.Paths, nil, nil)
		check(t, err)
		defer archive.Close()
		var want []*window.Window
		for stage, err := range pipeline.Stages(t.Context(), archive.Runs[0], p.options.Ingest.Pipeline, false) {
			check(t, err)
			_, err = stage.Read(t.Context(), nil, func(w *window.Window) error {
				want = append(want, w)
				return nil
			})
			check(t, err)
		}
		for _, d := range slices.Concat(want, p.windows) {
			d.Run, d.Bandwidth, d.ToMS = nil, 0, 0 // neither rates in bytes nor the end are known while fio writes
		}
		if diff := cmp.Diff(want, p.windows, cmpopts.EquateComparable(hist.Layout{})); diff != "" {
			t.Errorf("windows when the run was over (-), followed (+):\n%s", diff)
		}
	})
}

// TestInterrupted: after an interrupt, the history has what was read of a live run. Later the complete run replaces
// it.
func TestInterrupted(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		all, file := reports(t), filepath.Join(p.dir, "out.json")
		write(t, file, all[:6]...)
		ctx, interrupt := context.WithTimeout(t.Context(), 3*time.Second)
		defer interrupt()
		p.options.Quiet = time.Minute
		p.follow(ctx)
		live := p.only()
		if !live.Run.Live() || live.Documents.Cluster < 8 || live.Documents.Cluster != len(p.windows) {
			t.Errorf("live %v, %d documents, %d windows", live.Run.Live(), live.Documents.Cluster, len(p.windows))
		}
		write(t, file, all[6:]...)
		p.ingest()
		if run := p.only(); run.Run.Live() || !run.Run.Complete || run.Run.ID != live.Run.ID {
			t.Errorf("live %v, complete %v, %s was %s", run.Run.Live(), run.Run.Complete, run.Run.ID, live.Run.ID)
		}
	})
}

// full is a history on a full disk, which counts run documents.
type full struct {
	*sqlite.Store
	runs *int
	err  error
}

func (s full) Finish(ctx context.Context, run *mapping.Run) error {
	if *s.runs++; s.err != nil {
		return s.err
	}
	return s.Store.Finish(ctx, run)
}

// TestStoredOften: the document of a live run is stored at intervals. If that fails, following ends.
func TestStoredOften(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want int // times
	}{"stored": {nil, 4}, "full": {errors.New("the disk is full"), 1}} {
		t.Run(name, func(t *testing.T) {
			inPlace(t, func(t *testing.T, p *place) {
				start, runs := time.Now(), 0
				wait := later(0, func() {
					for n := 1; n <= 40; n++ {
						time.Sleep(time.Second)
						write(t, filepath.Join(p.dir, "out.json"), report(start, n))
					}
				})
				p.options.Every = 5 * time.Second
				ctx, stop := context.WithTimeout(t.Context(), 45*time.Second)
				defer stop()
				_, err := Follow(ctx, ingest.Target{Sink: full{p.store, &runs, c.err}, Store: p.store}, p.options)
				if wait(); !errors.Is(err, c.err) || runs < c.want || c.err != nil && runs > 1 {
					t.Errorf("%v: %v; stored %d times, want %d", c.err, err, runs, c.want)
				}
			})
		})
	}
}

// TestCutOut: CBT cuts json_output.N out of output.N when a run is over and may be stored already.
func TestCutOut(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		p.options.Idle = time.Minute
		last := reports(t)[9]
		write(t, filepath.Join(p.dir, "output.0.hostA"), []byte("Starting 2 processes\n"), last, []byte("\nall done\n"))
		wait := later(30*time.Second, func() {
			p.only()
			write(t, filepath.Join(p.dir, "json_output.0.hostA"), last)
		})
		if result := p.follow(t.Context()); result.LeftOut {
			t.Error(p.said())
		}
		wait()
		if name := p.only().Source.List[0].Path; name != "json_output.0.hostA" {
			t.Errorf("stored from %s\n%s", name, p.said())
		}
	})
}

// TestUnited: the logs at the end of a run have another name than its report. The run stored under that name is
// removed, whether it is live or over. If its files are removed, it stays.
func TestUnited(t *testing.T) {
	for _, tt := range []struct {
		name   string
		after  time.Duration
		live   bool // when the logs come
		change func(t *testing.T, dir string)
		want   string // name of the run
	}{
		{"logs come while it is live", 30 * time.Second, true, copyLogs, "out"},
		{"logs come when it is over", 45 * time.Second, false, copyLogs, "out"},
		{"the report is removed", 45 * time.Second, false, func(t *testing.T, dir string) {
			check(t, os.Remove(filepath.Join(dir, "report.json")))
		}, "report"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inPlace(t, func(t *testing.T, p *place) {
				p.options.Idle = 30 * time.Second
				file, start := filepath.Join(p.dir, "report.json"), time.Now()
				write(t, file, report(start, 1))
				wait := later(500*time.Millisecond, func() {
					for n := 2; n <= 30; n++ {
						write(t, file, report(start, n))
						time.Sleep(time.Second)
					}
					time.Sleep(tt.after - time.Since(start))
					if run := p.only(); run.Run.Name != "report" || run.Run.Live() != tt.live {
						t.Errorf("before: run %s, live %v", run.Run.Name, run.Run.Live())
					}
					tt.change(t, p.dir)
				})
				p.follow(t.Context())
				wait()
				if run := p.only(); run.Run.Name != tt.want || run.Run.Live() || !strings.Contains(p.said(), "stored 002:"+tt.want) {
					t.Errorf("run %s, want %s, live %v\n%s", run.Run.Name, tt.want, run.Run.Live(), p.said())
				}
			})
		})
	}
}

// TestStored: runs that are there at the start are stored once.
func TestStored(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		write(t, filepath.Join(p.dir, "out.json"), reports(t)...)
		copyLogs(t, p.dir)
		time.Sleep(time.Hour)
		p.follow(t.Context())
		if run := p.only(); run.Run.Live() || !strings.Contains(p.said(), "stored 002:out randrw 4K qd8: 32,000 requests, p99 ") || len(p.windows) > 0 {
			t.Errorf("live %v, %d windows\n%s", run.Run.Live(), len(p.windows), p.said())
		}
		p.messages.Reset()
		p.follow(t.Context())
		if !strings.Contains(p.said(), "unchanged: 002:out") || strings.Contains(p.said(), "stored") {
			t.Error(p.said())
		}
	})
}

// TestRemoved: a run whose folder is removed stays in the history, even if other runs share its configuration.
func TestRemoved(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		p.options.Idle = 30 * time.Second
		check(t, os.CopyFS(p.dir, os.DirFS(filepath.Join("..", "..", "examples", "cbt-archive"))))
		wait := later(20*time.Second, func() {
			if n := len(p.runs()); n != 3 {
				t.Errorf("%d runs are stored, want 3", n)
			}
			check(t, os.RemoveAll(filepath.Join(p.dir, "results", "00000001")))
		})
		p.follow(t.Context())
		wait()
		if n := len(p.runs()); n != 3 {
			t.Errorf("%d runs when a folder was removed, want 3\n%s", n, p.said())
		}
	})
}

// TestRules: messages say when a live run begins to break a rule, and when it is met again. A rule
// that a run breaks at its end is in the result.
func TestRules(t *testing.T) {
	for _, tt := range []struct {
		rule         string
		broken       bool
		want, absent string // want: texts, separated by |
	}{
		// The p99 of reads is 64 to 233 µs in all windows, and above 200 µs in one.
		{"read.p99 <= 200us in 50% of windows", false,
			`level=WARN msg="sla read.p99 <= 200us in 50% of windows: 002:out: so far, read p99: met for 0.0 % of |read is met again from 04:39:3`, "level=ERROR"},
		{"read.p99 <= 200us in every window", true, `level=WARN msg="sla read.p99 <= 200us in every window: 002:out: read p99 is 202µs in the window from 04:39:34 to 04:39:35"|read is met again from 04:39:3`, ""},
		{"read.p99 <= 20us", true, `level=ERROR msg="sla read.p99 <= 20us: 002:out: read p99: `, "met again"},
		{"write.iops >= 1100", false, "", "level=WARN"}, // the last window is cut off
		{"read.p99 <= 1s", false, "", "sla "},
		{"trim.p99 <= 1s", false, `level=WARN msg="sla trim.p99 <= 1s: 002:out: unknown: there are no trims"`, "level=ERROR"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			inPlace(t, func(t *testing.T, p *place) {
				rule, err := slo.Parse(tt.rule)
				check(t, err)
				p.options.Rules = []slo.Rule{rule}
				write(t, filepath.Join(p.dir, "out.json"), reports(t)...)
				result := p.follow(t.Context())
				if result.Broken != tt.broken || result.LeftOut != strings.Contains(tt.want, "unknown") {
					t.Errorf("%+v", result)
				}
				for want := range strings.SplitSeq(tt.want, "|") {
					if !strings.Contains(p.said(), want) || tt.absent != "" && strings.Contains(p.said(), tt.absent) {
						t.Errorf("want %s and no %s\n%s", want, tt.absent, p.said())
					}
				}
			})
		})
	}
}

// TestAgain: each window comes once, even if its file is renamed, emptied or put back, and then read from its start.
func TestAgain(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, file string, text []byte){
		"renamed": func(t *testing.T, file string, _ []byte) {
			check(t, os.Rename(file, filepath.Join(filepath.Dir(file), "other.json")))
		},
		"set aside": func(t *testing.T, file string, _ []byte) { check(t, os.Rename(file, file+".old")) },
		"emptied and written again": func(t *testing.T, file string, text []byte) {
			check(t, os.Truncate(file, 0))
			for part := range slices.Chunk(text, len(text)/2+1) {
				time.Sleep(time.Second)
				write(t, file, part)
			}
		},
		"removed and put back": func(t *testing.T, file string, _ []byte) {
			aside := filepath.Join(filepath.Dir(file), "..", "aside")
			check(t, os.Rename(file, aside))
			time.Sleep(5 * time.Second)
			check(t, os.Rename(aside, file))
			touch(t, file)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inPlace(t, func(t *testing.T, p *place) {
				file, text := filepath.Join(p.dir, "json_output.0.h1"), bytes.Join(reports(t), nil)
				write(t, file, text)
				wait := later(4500*time.Millisecond, func() { change(t, file, text) })
				p.follow(t.Context())
				wait()
				seen := map[string]bool{}
				for _, d := range p.windows {
					key := d.Start.Truncate(time.Second).String() + d.Direction
					if seen[key] || strings.HasSuffix(d.Run.Name, ".old") {
						t.Errorf("given twice: %s of %s", key, d.Run.Name)
					}
					seen[key] = true
				}
				if len(p.windows) < 20 {
					t.Errorf("%d windows\n%s", len(p.windows), p.said())
				}
				if hosts := p.only().Hosts; name == "set aside" && (len(hosts) != 1 || hosts[0].Name != "h1") {
					t.Errorf("hosts of the run: %v", hosts)
				}
			})
		})
	}
}

// TestReadWhileItGrew: a run that was stored or followed while fio wrote its reports is found again when the reports
// are complete, in any folder.
func TestReadWhileItGrew(t *testing.T) {
	for _, how := range []string{"ingest", "follow"} {
		for _, logs := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s logs=%v", how, logs), func(t *testing.T) {
				inPlace(t, func(t *testing.T, p *place) {
					all := reports(t)
					write(t, filepath.Join(p.dir, "report.json"), all[:len(all)/2]...)
					if how == "follow" {
						ctx, interrupt := context.WithTimeout(t.Context(), 3*time.Second)
						defer interrupt()
						p.follow(ctx)
					} else {
						p.ingest()
					}
					before := p.only()
					over := filepath.Join(filepath.Dir(p.dir), "over")
					check(t, os.Rename(p.dir, over))
					p.options.Paths = []string{over}
					write(t, filepath.Join(over, "report.json"), all[len(all)/2:]...)
					if logs {
						copyLogs(t, over)
					}
					p.ingest()
					if after := p.only(); after.Run.ID != before.Run.ID || !after.Run.Complete {
						t.Errorf("run %s, complete %v; before %s", after.Run.ID, after.Run.Complete, before.Run.ID)
					}
				})
			})
		}
	}
}
