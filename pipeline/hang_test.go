package pipeline_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestHang: a hang of storage for 3 s looks like one, from each kind of files of a run of fio 3.42: in each window are the
// requests that completed between its start and its end. internal/fiomatrix does the same with the fio that is there.
func TestHang(t *testing.T) {
	for _, name := range []string{"hang-3.42", "hang-of-one-3.42"} {
		raw := readRaw(t, filepath.Join("..", "testdata", "corpus", name), "out")
		t.Run(name, func(t *testing.T) {
			reports := reportsIn(t, filepath.Join("..", "testdata", "corpus", name, "out.json.gz"))
			for kind, read := range map[string]func(t *testing.T, dir string) []*mapping.Interval{
				"log": func(t *testing.T, dir string) []*mapping.Interval {
					if err := os.WriteFile(filepath.Join(dir, "out.json"), reports[len(reports)-1], 0o644); err != nil {
						t.Fatal(err)
					}
					docs, _ := readRun(t, dir, "out", pipeline.Options{})
					return docs
				},
				"log and reports": func(t *testing.T, dir string) []*mapping.Interval {
					docs, _ := readRun(t, dir, "out", pipeline.Options{})
					return docs
				},
				"reports": func(t *testing.T, dir string) []*mapping.Interval {
					removeFiles(t, dir, "_clat_hist.")
					docs, _ := readRun(t, dir, "out", pipeline.Options{})
					return docs
				},
				"live": func(t *testing.T, _ string) []*mapping.Interval { return followReports(t, "out.json", reports) },
			} {
				t.Run(kind, func(t *testing.T) {
					dir := copyCorpus(t, name)
					removeFiles(t, dir, "_clat.")
					checkHang(t, read(t, dir), raw)
				})
			}
		})
	}
}

// followReports follows a run whose reports are written into a file at the times that they have.
func followReports(t *testing.T, name string, reports [][]byte) (docs []*mapping.Interval) {
	var at []time.Time
	for _, r := range reports {
		var of struct {
			At int64 `json:"timestamp_ms"`
		}
		if err := json.Unmarshal(r, &of); err != nil {
			t.Fatal(err)
		}
		at = append(at, time.UnixMilli(of.At))
	}
	file := filepath.Join(t.TempDir(), name)
	synctest.Test(t, func(t *testing.T) {
		appendReport(t, file, bytes.Join(reports[:3], nil))
		run := onlyRun(t, file)
		var writing sync.WaitGroup
		defer writing.Wait()
		writing.Go(func() {
			for i := 3; i < len(reports); i++ {
				time.Sleep(at[i].Sub(at[i-1]))
				appendReport(t, file, reports[i])
			}
		})
		f, err := live(t.Context(), run, pipeline.Options{}, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.docs {
			docs = append(docs, d.Interval)
		}
	})
	return docs
}

// checkHang compares the windows of a run with its completions.
func checkHang(t *testing.T, docs []*mapping.Interval, raw []fiotest.Completion) {
	t.Helper()
	const slack = 50 * time.Millisecond // rows and reports are written somewhat late
	sum := 0
	for _, d := range docs {
		if d.Level != mapping.Cluster {
			continue
		}
		from, to, n := d.Time.Sub(d.Run.Start), d.Window.End.Sub(d.Run.Start), int(d.Requests.Completed)
		least, most := completedIn(raw, from+slack, to-slack), completedIn(raw, from-slack, to+slack)
		if sum += n; n < least-1 || n > most+1 {
			t.Errorf("%v to %v: %d requests, want %d to %d", from, to, n, least, most)
		}
		if iops := float64(n) / (to - from).Seconds(); d.IOPS < 0.97*iops-1 || d.IOPS > 1.03*iops+1 {
			t.Errorf("%v to %v: %v IOPS for %d requests", from, to, d.IOPS, n)
		}
	}
	if sum != len(raw) {
		t.Errorf("%d requests, want %d", sum, len(raw))
	}
}

// completedIn returns the number of completions in [from, to].
func completedIn(raw []fiotest.Completion, from, to time.Duration) (n int) {
	for _, c := range raw {
		if c.Time >= from && c.Time <= to {
			n++
		}
	}
	return n
}
