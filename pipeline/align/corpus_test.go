package align_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// histogramLogs are all logs of the corpus that contain counts.
func histogramLogs(t *testing.T) []string {
	t.Helper()
	var logs []string
	err := filepath.WalkDir(filepath.Join("..", "..", "testdata", "corpus"), func(path string, e fs.DirEntry, err error) error {
		name, isZipped := strings.CutSuffix(filepath.Base(path), ".gz")
		if n, ok := fiolog.ParseName(name); ok && isZipped && n.Kind == fiolog.ClatHist && !n.Stored {
			logs = append(logs, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(logs) < 20 {
		t.Fatalf("only %d histogram logs in the corpus", len(logs))
	}
	return logs
}

// readLog calls do for each row of a log, until it returns false.
func readLog(t *testing.T, path string, do func(*fiolog.Record) bool) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(path, err)
	}
	r := fiolog.NewReader(text, path, fiolog.ClatHist)
	for {
		rec, err := r.Next()
		switch {
		case err == io.EOF || errors.Is(err, fiolog.ErrStoredCompressed):
			return
		case err != nil:
			t.Fatal(err)
		case !do(rec):
			return
		}
	}
}

// TestSplitCorpus replays what fio wrote, with the interval that it had and with others.
func TestSplitCorpus(t *testing.T) {
	for _, interval := range []int64{0, 100, 250, 1000, 2000} {
		t.Run(fmt.Sprint(interval), func(t *testing.T) {
			rows, split := 0, 0
			for _, path := range histogramLogs(t) {
				s := align.NewSplitter(interval)
				var last [fiolog.Directions]int64
				epoch := int64(-1)
				readLog(t, path, func(rec *fiolog.Record) bool {
					if epoch < 0 {
						if epoch = 0; rec.Time > 1e12 { // since 1970
							epoch = rec.Time - 1000
						}
					}
					if rec.NewJob {
						s, last = align.NewSplitter(interval), [fiolog.Directions]int64{}
					}
					at := rec.Time - epoch
					out := s.Split(at, rec.Direction, rec.Layout, rec.Bins, total(rec.Bins))
					if end := checkSplit(t, out, last[rec.Direction], rec, at); end != at {
						t.Errorf("%s:%d: the last row ends at %d, want %d", path, rec.Line, end, at)
					}
					last[rec.Direction] = at
					rows++
					split += len(out) - 1
					return true
				})
			}
			if rows < 500 {
				t.Errorf("only %d rows in the corpus", rows)
			}
			if interval == 1000 && split == 0 {
				t.Error("no row of the corpus was split, though some of its runs stalled")
			}
			t.Logf("%d rows, %d of them split", rows, split)
		})
	}
}

// corpusStreams are the jobs of a folder of the corpus, and their requests by direction.
func corpusStreams(t *testing.T, folder string, interval int64) ([]*align.Stream, [fiolog.Directions]uint64) {
	t.Helper()
	var streams []*align.Stream
	var requests [fiolog.Directions]uint64
	for _, path := range histogramLogs(t) {
		if !strings.Contains(path, folder) {
			continue
		}
		var rows []align.Row
		s := align.NewSplitter(interval)
		readLog(t, path, func(rec *fiolog.Record) bool {
			requests[rec.Direction] += total(rec.Bins)
			for _, row := range s.Split(rec.Time, rec.Direction, rec.Layout, rec.Bins, total(rec.Bins)) {
				row.Bins = append([]hist.Bin(nil), row.Bins...)
				rows = append(rows, row)
			}
			return true
		})
		name, _ := fiolog.ParseName(strings.TrimSuffix(filepath.Base(path), ".gz"))
		streams = append(streams, stream(name.Host, fmt.Sprint(name.Job), rows))
	}
	return streams, requests
}
