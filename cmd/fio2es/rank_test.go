package main

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
)

func rawOf(t *testing.T, run string) []fiotest.Completion {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join("..", "..", "testdata", "corpus", run, "out_clat.*.log.gz"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no raw logs of %s: %v", run, err)
	}
	var all []fiotest.Completion
	for _, name := range logs {
		f, err := os.Open(name)
		check(t, err)
		defer f.Close()
		z, err := gzip.NewReader(f)
		check(t, err)
		one, err := fiotest.ReadRaw(bufio.NewReader(z))
		check(t, err)
		all = append(all, one...)
	}
	return all
}

// rankOf returns the output lines of the command.
func rankOf(t *testing.T, args ...string) []rankLine {
	t.Helper()
	return linesOf[rankLine](t, 0, append([]string{"rank"}, args...)...)
}

// TestRankTruth: the results of raw completions are between the bounds, for whole runs and for times whose windows
// follow rows. Half of the answers differ by at most a thousandth of the requests.
func TestRankTruth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		run  string
		args []string
	}{
		{"two-jobs-rw", nil}, {"stalls", nil}, {"coarseness", nil},
		{"two-jobs-rw", []string{"--from", "+2s", "--to", "+7s"}},
		{"stalls", []string{"--from", "+7s", "--to", "+9s"}},
		{"coarseness", []string{"--to", "+4s"}},
	} {
		raw, path := rawOf(t, c.run), filepath.Join("..", "..", "testdata", "corpus", c.run)
		start := moments(t, rankOf(t, path, "--within", "1s")[0])[0]
		close, all := 0, 0
		for number, direction := range []string{"read", "write"} {
			args := []string{path, "--direction", direction, "--within", "20us,40us,50us,64us,100us,333us,1ms,10ms,1s"}
			for _, l := range rankOf(t, append(args, c.args...)...) {
				span := moments(t, l)
				from, to := span[0].Sub(start), span[1].Sub(start)
				requests, served := int64(0), int64(0)
				for _, r := range raw {
					if r.Direction != number || c.args != nil && (r.Time <= from && from > 0 || r.Time > to) {
						continue
					}
					if requests++; r.Latency <= time.Duration(l.WithinUS*1000) {
						served++
					}
				}
				if l.Requests != requests || l.Direction != direction {
					t.Errorf("%s %v: %d %ss, %d completions", c.run, c.args, l.Requests, l.Direction, requests)
				}
				if served < l.AtLeast || served > l.AtMost || l.Served < l.AtLeast || l.Served > l.AtMost {
					t.Errorf("%s %v: %d %ss within %v µs, between %d and %d; really %d",
						c.run, c.args, l.Served, direction, l.WithinUS, l.AtLeast, l.AtMost, served)
				}
				if d := l.Served - served; d*d*1_000_000 <= requests*requests {
					close++
				}
				all++
			}
		}
		if close*2 < all {
			t.Errorf("%s %v: %d of %d answers are close", c.run, c.args, close, all)
		}
	}
}

func moments(t *testing.T, l rankLine) (at [2]time.Time) {
	t.Helper()
	for i, text := range []string{l.From, l.To} {
		var err error
		if at[i], err = time.Parse(time.RFC3339Nano, text); err != nil {
			t.Fatal(err)
		}
	}
	return at
}
