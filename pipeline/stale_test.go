package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/pipeline"
)

// TestSetBack: a report that was written after the host's clock was set back is no evidence for the start. Otherwise the
// run would be longer than it was, and its rates lower.
func TestSetBack(t *testing.T) {
	from, to := filepath.Join("..", "testdata", "corpus", "epoch"), t.TempDir()
	_, want := readRun(t, from, "out", pipeline.Options{})
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
	_, got := readRun(t, to, "out", pipeline.Options{})
	if off := got.Run.Run.Start.Sub(want.Run.Run.Start).Abs(); off > 250*time.Millisecond || got.Run.All.IOPS < 0.9*want.Run.All.IOPS {
		t.Errorf("start differs by %v, IOPS %v, want %v", off, got.Run.All.IOPS, want.Run.All.IOPS)
	}
	if text := fmt.Sprint(got.Notes); !strings.Contains(text, "the clock of its host was set back while fio ran") {
		t.Error(text)
	}
}

// TestStaleReport: a report that was written before the logs beside it is of an earlier run, if its bins lack rows of theirs that can
// be read.
func TestStaleReport(t *testing.T) {
	from := filepath.Join("..", "testdata", "corpus", "epoch")
	for name, c := range map[string]struct {
		rows  string // of the logs, in place of those of the report's run; empty: the same
		spoil func([]byte) []byte
		want  string
		used  bool
	}{
		"other rows":                     {strings.Repeat("0, ", 1000) + "9000" + strings.Repeat(", 0", 855), nil, "it is of an earlier run of fio, and not used", false},
		"its rows":                       {"", nil, "[]", true}, // copied later
		"its rows, the last of them cut": {"", func(log []byte) []byte { return log[:len(log)-3000] }, "got the end of the file", true},
		"its rows below a header":        {"", func(log []byte) []byte { return append([]byte("time, direction, bs, bins\n"), log...) }, ":1:1: got", true},
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
			if c.spoil != nil && name != "out.txt" {
				text = c.spoil(text)
			}
			file := filepath.Join(to, name)
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, at, at); err != nil {
				t.Fatal(err)
			}
		}
		_, stages := readStages(t, to, "out", pipeline.Options{}) // without the report, they are two, by the times of the logs
		got := stages[0]
		said := fmt.Sprint(got.Skipped)
		if used := strings.Contains(fmt.Sprint(got.Why()), "report out.txt"); used != c.used || !strings.Contains(said, c.want) ||
			c.used && strings.Contains(said, "another run") {
			t.Errorf("%s: report used %v, said %s", name, used, said)
		}
	}
}
