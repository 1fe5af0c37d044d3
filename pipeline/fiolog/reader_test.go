package fiolog_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

func TestReaderRealLogs(t *testing.T) {
	tests := []struct {
		name     string
		rows     int
		requests uint64
		newJobs  []int // line numbers
	}{
		{"good.log.gz", 18, 14452, nil},
		{"one-file.log.gz", 30, 7512, []int{11, 21}},
		{"stalls.log.gz", 26, 6504, nil},
		{"trims.log.gz", 11, 410, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := golden.Gunzip(t, filepath.Join("testdata", tt.name))
			rows, faults, err := readAll(t, bytes.NewReader(log))
			if len(faults) > 0 || err != io.EOF {
				t.Fatalf("got errors %q and %v, want none and EOF", faults, err)
			}
			var requests uint64
			var newJobs []int
			for i, r := range rows {
				requests += r.Total
				if r.NewJob {
					newJobs = append(newJobs, r.Line)
				}
				if r.Line != i+1 || r.Layout != hist.Fio3(0) {
					t.Errorf("row %d is of line %d, layout %v", i+1, r.Line, r.Layout)
				}
				checkBins(t, r.Layout, r.Bins)
			}
			if len(rows) != tt.rows || requests != tt.requests {
				t.Errorf("got %d rows of %d requests, want %d of %d", len(rows), requests, tt.rows, tt.requests)
			}
			if d := cmp.Diff(tt.newJobs, newJobs); d != "" {
				t.Errorf("new jobs (-want +got):\n%s", d)
			}
		})
	}
}

// TestReaderPieces reads the same from a source that returns pieces of any length.
func TestReaderPieces(t *testing.T) {
	log := strings.Repeat(damaged(t, "wrongcount_mid")+damaged(t, "long_line"), 3) + damaged(t, "trunc_midnumber")
	want, wantFaults, _ := readAll(t, strings.NewReader(log))
	for name, src := range map[string]io.Reader{
		"half":          iotest.HalfReader(strings.NewReader(log)),
		"data with EOF": iotest.DataErrReader(strings.NewReader(log)),
		"one byte":      iotest.OneByteReader(strings.NewReader(log)),
	} {
		t.Run(name, func(t *testing.T) {
			got, faults, err := readAll(t, src)
			if d := cmp.Diff(want, got, cmp.Comparer(func(a, b hist.Layout) bool { return a == b })); d != "" || err != io.EOF {
				t.Errorf("rows (-want +got), %v:\n%s", err, d)
			}
			if d := cmp.Diff(wantFaults, faults); d != "" {
				t.Errorf("errors (-want +got):\n%s", d)
			}
		})
	}
}

func TestReaderSourceFails(t *testing.T) {
	broken := errors.New("broken pipe")
	log := golden.Gunzip(t, filepath.Join("testdata", "good.log.gz"))
	rows, faults, err := readAll(t, io.MultiReader(bytes.NewReader(log[:20000]), iotest.ErrReader(broken)))
	if len(rows) != 3 || len(faults) > 0 || !errors.Is(err, broken) || err.Error() != "read x.log: broken pipe" {
		t.Errorf("got %d rows, %q and %v", len(rows), faults, err)
	}
	stuck := io.MultiReader(bytes.NewReader(log[:20000]), readerFunc(func([]byte) (int, error) { return 0, nil }))
	if _, _, err := readAll(t, stuck); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a source that returns nothing ends with %v", err)
	}
	liar := readerFunc(func(b []byte) (int, error) { return len(b) + 1, nil })
	if _, _, err := readAll(t, liar); err == nil || err == io.EOF {
		t.Errorf("a source that claims too much ends with %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestReaderDoesNotAllocate(t *testing.T) {
	log := repeat(golden.Gunzip(t, filepath.Join("testdata", "good.log.gz")), 4<<20)
	r := fiolog.NewReader(bytes.NewReader(log), "x.log", fiolog.ClatHist)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(500, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("a row takes %v allocations, want 0", n)
	}
}

func FuzzReader(f *testing.F) {
	for _, name := range []string{"tabs_spaces", "backwards", "cut_to_928", "nul"} {
		log := []byte(damaged(f, name))
		f.Add(log[:12000], 1, 7)
	}
	f.Add(busyLog(6, 29, 5), 3, 2)
	f.Fuzz(func(t *testing.T, b []byte, times, step int) {
		log := bytes.Repeat(b, min(max(times, 1), 4))
		want, wantFaults, wantErr := readAll(t, bytes.NewReader(log))
		step = min(max(step, 1), 1<<20)
		got, faults, err := readAll(t, readerFunc(func() func([]byte) (int, error) {
			src := bytes.NewReader(log)
			return func(p []byte) (int, error) { return src.Read(p[:min(step, len(p))]) }
		}()))
		if len(got) != len(want) || !cmp.Equal(faults, wantFaults) || (err == io.EOF) != (wantErr == io.EOF) {
			t.Fatalf("in pieces of %d: %d rows, %q, %v; at once: %d rows, %q, %v", step, len(got), faults, err, len(want), wantFaults, wantErr)
		}
		for i, r := range got {
			if r.Layout != want[i].Layout || !cmp.Equal(r.Bins, want[i].Bins) || r.Total != want[i].Total || r.Time != want[i].Time || r.NewJob != want[i].NewJob {
				t.Fatalf("row %d differs: %+v and %+v", i, r, want[i])
			}
		}
	})
}

// checkBins fails the test unless bins ascend and are the layout's.
func checkBins(t *testing.T, l hist.Layout, bins []hist.Bin) {
	t.Helper()
	last := -1
	for i, b := range bins {
		if int(b.Index) <= last || int(b.Index) >= l.Len() {
			t.Fatalf("bin %d, the %dth, is not in range or does not ascend", b.Index, i)
		}
		last = int(b.Index)
	}
}
