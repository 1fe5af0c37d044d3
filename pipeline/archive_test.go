package pipeline_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// openRuns are the runs under some paths. The archive is closed with the test.
func openRuns(t *testing.T, stdin string, paths ...string) []*assign.Run {
	t.Helper()
	a, err := pipeline.Open(t.Context(), paths, strings.NewReader(stdin), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a.Runs
}

// severalRuns is a folder with three runs, and a tar of it.
func severalRuns(t *testing.T) (folder, packed string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "several")
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{"one/x_clat_hist.1.log", "two/x_clat_hist.1.log", "two/y_clat_hist.1.log"} {
		file := filepath.Join(folder, name)
		for _, err := range []error{
			os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(name), 0o644),
			w.WriteHeader(&tar.Header{Name: "several/" + name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(name))}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	packed = folder + ".tar"
	if err := os.WriteFile(packed, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder, packed
}

// TestTogether: what the user named file by file is one run, what was found in a folder or
// an archive is not touched.
func TestTogether(t *testing.T) {
	folder, packed := severalRuns(t)
	log := func(name string) string { return filepath.Join(folder, name) }
	for _, c := range []struct {
		name  string
		paths []string
		want  []string // of each run its jobs as HOST/VOLUME/JOB, after its path
		loose bool
	}{
		{"folder", []string{folder}, []string{"one/x .1", "two/x .1", "two/y .1"}, false},
		{"tar", []string{packed}, []string{"one/x .1", "two/x .1", "two/y .1"}, false},
		{"one log", []string{log("two/x_clat_hist.1.log")}, []string{"x .1"}, true},
		{"logs", []string{log("one/x_clat_hist.1.log"), log("two/y_clat_hist.1.log")}, []string{"x .1 y.1"}, true},
		{"logs and a tar", []string{log("two/x_clat_hist.1.log"), log("two/y_clat_hist.1.log"), packed},
			[]string{"x .1 y.1", "one/x .1", "two/x .1", "two/y .1"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs, loose := pipeline.Together(openRuns(t, "", c.paths...))
			var got []string
			for _, r := range runs {
				line := r.Path
				for _, l := range r.Logs {
					line += " " + l.Volume + "." + string(rune('0'+l.Job))
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			if loose != c.loose {
				t.Errorf("loose %v, want %v", !c.loose, c.loose)
			}
		})
	}
}

// TestTogetherOfOneName: logs of one name in several folders may be of several hosts or runs: they stay apart.
func TestTogetherOfOneName(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i, host := range []string{"node1", "node2"} {
		name := filepath.Join(dir, host, "t_clat_hist.1.log")
		text := fmt.Sprintf("1000, 0, 4096, %d\n5000, 0, 4096, 4\n", i)
		if err := errors.Join(os.Mkdir(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, name)
	}
	if runs, _ := pipeline.Together(openRuns(t, "", paths...)); len(runs) != 2 || len(runs[0].HostNames()) > 0 {
		t.Errorf("%d runs, the first with hosts %q", len(runs), runs[0].HostNames())
	}
}

// TestTogetherAtOneTime: logs that the user named are not one run if they were written one after another.
func TestTogetherAtOneTime(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i, name := range []string{"t.1_clat_hist.1.log", "t.2_clat_hist.1.log"} {
		name = filepath.Join(dir, name)
		at := time.Unix(1_763_900_000+int64(10*i), 0)
		if err := errors.Join(os.WriteFile(name, []byte("1000, 0, 4096, 4\n5000, 0, 4096, 4\n"), 0o644), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, name)
	}
	if runs, loose := pipeline.Together(openRuns(t, "", paths...)); len(runs) != 2 || !loose {
		t.Errorf("%d runs, want 2", len(runs))
	}
}

// TestLeftoverJob: the log of an earlier run with more jobs, whose report is gone, is not added to the new one. Copies of both, which all
// have one time, are added with a note; if their rows have absolute times, these divide them.
func TestLeftoverJob(t *testing.T) {
	const began = 1_763_900_000
	for _, c := range []struct {
		name     string
		apart    int   // seconds between the times of the files
		origin   int64 // of the rows
		want     int   // runs
		together bool  // it is said that they may not have run together
	}{{"as written", 10, 0, 2, false}, {"copies", 0, 0, 1, true}, {"copies, and absolute times", 0, 1000 * began, 2, false}} {
		dir, rest := t.TempDir(), ", 0, 4096, 4"+strings.Repeat(", 0", 1855)+"\n"
		for i, name := range []string{"t_clat_hist.2.log", "t_clat_hist.1.log"} {
			name = filepath.Join(dir, name)
			at, text := time.Unix(began+int64(c.apart*i), 0), ""
			for row := range 3 {
				text += fmt.Sprint(c.origin+int64(10*i+row+1)*1000) + rest
			}
			if c.origin == 0 {
				text = "1000" + rest + "2000" + rest + "3000" + rest
			}
			if err := errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		n, said := 0, ""
		for stage, err := range pipeline.Stages(t.Context(), openRuns(t, "", dir)[0], pipeline.Options{}, true) {
			if err != nil {
				t.Fatal(err)
			}
			result, err := stage.Read(t.Context(), nil, func(*window.Window) error { return nil })
			if err != nil || result.Run.All.Requests != int64(12*2/c.want) {
				t.Fatalf("%s: %v, %+v", c.name, err, result.Run.All)
			}
			n, said = n+1, said+fmt.Sprint(result.Notes)
		}
		if n != c.want || strings.Contains(said, "as if they began together") != c.together {
			t.Errorf("%s: %d runs, %s", c.name, n, said)
		}
	}
}
