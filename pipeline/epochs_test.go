package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/golden"
)

// TestSetBack: a report that was written after the host's clock was set back is no evidence for the start. Otherwise the
// run would be longer than it was, and its rates lower.
func TestSetBack(t *testing.T) {
	from, to := filepath.Join("..", "testdata", "corpus", "epoch"), t.TempDir()
	_, want := readRun(t, from, "out", Options{})
	const stamp = `"timestamp_ms" : `
	for _, name := range []string{"out.txt", "out_clat_hist.1.log", "out_clat_hist.2.log"} {
		text := golden.Gunzip(t, filepath.Join(from, name+".gz"))
		if before, after, ok := strings.Cut(string(text), stamp); ok {
			ms, _ := strconv.ParseInt(after[:13], 10, 64)
			text = fmt.Appendf(nil, "%s%s%d%s", before, stamp, ms-3000, after[13:])
		}
		if err := os.WriteFile(filepath.Join(to, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, got := readRun(t, to, "out", Options{})
	if off := got.Run.Run.Start.Sub(want.Run.Run.Start).Abs(); off > together || got.Run.All.IOPS < 0.9*want.Run.All.IOPS {
		t.Errorf("start differs by %v, IOPS %v, want %v", off, got.Run.All.IOPS, want.Run.All.IOPS)
	}
	if text := fmt.Sprint(got.Notes); !strings.Contains(text, "the clock of its host was set back while fio ran") {
		t.Error(text)
	}
}

// TestEpochsAndReports: the times of rows are overruled only by precise evidence that the run time does not contradict.
func TestEpochsAndReports(t *testing.T) {
	epoch := written.UnixMilli()
	for _, c := range []struct {
		name         string
		by           clock
		start, error time.Duration // by the other evidence, since the start by the rows
		ran          int64
		want         time.Duration
		contradicts  bool
	}{
		{"the same", clockStart, -3 * time.Millisecond, errorOfStart, 2000, -3 * time.Millisecond, false},
		{"a late first request", clockReport, -700 * time.Millisecond, errorOfReport, 2700, -700 * time.Millisecond, false},
		{"a clock 2 s behind", clockMtime, -2 * time.Second, errorOfMtime, 2000, 0, true},
		{"whole seconds", clockMtime, -900 * time.Millisecond, errorOfMtime + time.Second, 2500, 0, false},
		{"within the errors", clockReport, -200 * time.Millisecond, errorOfEnd, 2000, 0, false},
	} {
		j := rowsAt(1000, epoch+1000)[0]
		j.source, j.ran = fromNothing, 1950 // its last row, without a log
		j.entry = &entry{out: &output{}, ran: c.ran}
		j.moment = moment{written.Add(c.start), c.by, c.error}
		_, contradicted := (placing{&plan{jobs: []*job{j}}, &evidence{}, nil}).placeByEpochs()
		if got := j.start.Sub(written); got != c.want || (len(contradicted) > 0) != c.contradicts {
			t.Errorf("%s: %v later, contradicted %v", c.name, got, contradicted)
		}
	}
}

// TestStaleReport: a report that was written before the logs beside it is of an earlier run. Its bins prove it, or a warning
// says that it may be.
func TestStaleReport(t *testing.T) {
	from := filepath.Join("..", "testdata", "corpus", "epoch")
	for name, c := range map[string]struct {
		rows string // of the logs, in place of those of the report's run; empty: the same
		want string
		used bool
	}{
		"other rows": {strings.Repeat("0, ", 1000) + "9000" + strings.Repeat(", 0", 855), "it is of an earlier run of fio, and not used", false},
		"like rows":  {"", "times and totals are of the one before", true},
	} {
		to, at := t.TempDir(), time.Time{}
		for _, name := range []string{"out.txt", "out_clat_hist.1.log", "out_clat_hist.2.log"} {
			text := golden.Gunzip(t, filepath.Join(from, name+".gz"))
			if _, after, ok := strings.Cut(string(text), `"timestamp_ms" : `); ok {
				ms, _ := strconv.ParseInt(after[:13], 10, 64)
				at = time.UnixMilli(ms)
			} else if at = at.Add(6 * time.Second); c.rows != "" {
				text = []byte("1000, 0, 4096, " + c.rows + "\n2000, 0, 4096, " + c.rows + "\n")
			}
			file := filepath.Join(to, name)
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, at, at); err != nil {
				t.Fatal(err)
			}
		}
		_, got := readRun(t, to, "out", Options{})
		said := fmt.Sprint(got.Skipped)
		if used := strings.Contains(fmt.Sprint(got.Why), "report out.txt"); used != c.used || !strings.Contains(said, c.want) {
			t.Errorf("%s: report used %v, said %s", name, used, said)
		}
	}
}

// TestPlaceByEpochs: rows with absolute times are the best evidence, unless the report shows that a
// job began before its first request.
func TestPlaceByEpochs(t *testing.T) {
	epoch := written.UnixMilli()
	for _, c := range []struct {
		name    string
		first   []int64         // time of the first row of each job
		started []time.Duration // before the first row, by the report; 0: unknown
		want    []int64         // start, milliseconds since epoch
		apart   bool
	}{
		{"together", []int64{epoch + 1000, epoch + 1300}, []time.Duration{0, 0}, []int64{0, 300}, false},
		{"apart", []int64{epoch + 1000, epoch + 9000}, []time.Duration{0, 0}, []int64{0, 8000}, true},
		{"a report before", []int64{epoch + 1000}, []time.Duration{1700 * time.Millisecond}, []int64{-700}, false},
		{"a report after", []int64{epoch + 1000}, []time.Duration{200 * time.Millisecond}, []int64{0}, false},
		{"a report of another day", []int64{epoch + 1000}, []time.Duration{24 * time.Hour}, []int64{0}, false},
		{"times since the start", []int64{1000}, []time.Duration{0}, []int64{-epoch}, false},
	} {
		jobs := rowsAt(1000, c.first...)
		for i, j := range jobs {
			if c.started[i] > 0 {
				j.entry = &entry{out: &output{}}
				j.moment = moment{time.UnixMilli(j.first).Add(-c.started[i]), clockStart, errorOfStart}
			}
		}
		how, _ := (placing{&plan{jobs: jobs}, &evidence{}, nil}).placeByEpochs()
		for i, j := range jobs {
			switch {
			case !isEpoch(j):
				if !j.start.IsZero() || j.origin != 0 {
					t.Errorf("%s: job %d began at %v", c.name, i, j.start)
				}
			case j.start.UnixMilli()-epoch != c.want[i] || j.origin != j.start.UnixMilli() || j.clock != clockEpoch:
				t.Errorf("%s: job %d began at %d by %v, want %d", c.name, i, j.start.UnixMilli()-epoch, j.clock, c.want[i])
			}
		}
		if (how != "") != c.apart {
			t.Errorf("%s: %q", c.name, how)
		}
	}
}

// TestPlaceByOtherClock: rows that count from the machine's start show how far apart jobs began, and
// the report shows when the last one ended.
func TestPlaceByOtherClock(t *testing.T) {
	const boot = 86_400_000
	for _, c := range []struct {
		name  string
		first []int64
		want  []int64 // milliseconds before the report; 0: unknown
		apart bool
	}{
		{"together", []int64{boot, boot + 30}, []int64{5030, 5000}, false},
		{"one after another", []int64{boot, boot + 7000}, []int64{12000, 5000}, true},
		{"one by its own clock", []int64{1000, boot}, []int64{0, 5000}, false},
	} {
		out, entries := outputOf(6, section{ran: 5000, log: -1}, section{ran: 5000, log: -1})
		jobs := rowsAt(1000, c.first...)
		for i, j := range jobs {
			j.entry, j.ran = entries[i], 5000
		}
		how, without := placeByOtherClock(jobs)
		for i, j := range jobs {
			if got := written.Sub(j.start).Milliseconds(); c.want[i] == 0 && !j.start.IsZero() || c.want[i] != 0 && got != c.want[i] {
				t.Errorf("%s: job %d began %d ms before the report, want %d", c.name, i, got, c.want[i])
			}
		}
		if (how != "") != c.apart || len(without) > 0 || out.entries != nil {
			t.Errorf("%s: %q, %v", c.name, how, without)
		}
	}
	alone := rowsAt(1000, boot)
	if _, without := placeByOtherClock(alone); len(without) != 1 || alone[0].origin != boot-1000 {
		t.Errorf("without a report: %v, times count from %d", without, alone[0].origin)
	}
}
