package fiotest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// parsed is what the naive parser finds in a log.
type parsed struct {
	rows    int
	columns int
	sums    [directions][]uint64
	last    [directions]int64
	used    int // number of columns that are not zero, over all rows
	heads   []string
}

// naive parses a log in a slow and obvious way.
func naive(t *testing.T, log string) parsed {
	t.Helper()
	var p parsed
	for line := range strings.Lines(log) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ", ")
		n := make([]uint64, len(f))
		for i, s := range f {
			var err error
			if n[i], err = strconv.ParseUint(s, 10, 64); err != nil {
				t.Fatalf("row %d, field %d: %v", p.rows, i, err)
			}
		}
		if p.rows > 0 && len(f)-3 != p.columns {
			t.Fatalf("row %d has %d columns after %d", p.rows, len(f)-3, p.columns)
		}
		p.columns = len(f) - 3
		p.rows++
		p.heads = append(p.heads, strings.Join(f[:3], ","))
		d := n[1]
		if p.sums[d] == nil {
			p.sums[d] = make([]uint64, p.columns)
		}
		if ms := int64(n[0]); ms < p.last[d] {
			t.Fatalf("row %d goes back from %d to %d ms", p.rows, p.last[d], ms)
		}
		p.last[d] = int64(n[0])
		for i, c := range n[3:] {
			p.sums[d][i] += c
			if c > 0 {
				p.used++
			}
		}
	}
	return p
}

var specs = map[string]LogSpec{
	"zero":         {},
	"read write":   {Seed: 1, Seconds: 20, Directions: []int{Read, Write}},
	"three":        {Seed: 2, Seconds: 5, Directions: []int{Trim, Write, Read}},
	"coarse":       {Seed: 3, Seconds: 9, Coarseness: 6},
	"coarse fio 2": {Seed: 4, Seconds: 9, Coarseness: 3, Fio2: true},
	"fio 2":        {Seed: 5, Seconds: 9, Fio2: true},
	"more groups":  {Seed: 13, Seconds: 9, Groups: 34, Coarseness: 1},
	"more, fio 2":  {Seed: 14, Seconds: 9, Groups: 24, Fio2: true},
	"most":         {Seed: 15, Seconds: 5, Groups: 58, Scale: 20000},
	"minutes":      {Seed: 16, Seconds: 900, Groups: 34, StallEvery: 100, LongestStall: 200, IOPS: 100, Steady: true},
	"stalls":       {Seed: 6, Seconds: 90, StallEvery: 5, Directions: []int{Read, Write}},
	"slow":         {Seed: 7, Seconds: 30, IOPS: 2, Steady: true},
	"fast":         {Seed: 8, Seconds: 5, IOPS: 2_000_000},
	"beyond":       {Seed: 9, Seconds: 5, Scale: 20000},
	"by size":      {Seed: 10, MaxBytes: 200_000, Coarseness: 1},
	"one second":   {Seed: 12, Seconds: 1},
}

func TestLogMatchesTruth(t *testing.T) {
	for name, s := range specs {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			truth, err := s.Write(&log)
			if err != nil {
				t.Fatal(err)
			}
			p := naive(t, log.String())
			if truth.Bytes != int64(log.Len()) {
				t.Errorf("truth has %d bytes; log %d", truth.Bytes, log.Len())
			}
			if p.rows > 0 && p.columns != s.Columns() {
				t.Errorf("%d columns, want %d", p.columns, s.Columns())
			}
			for d := range directions {
				if !slices.Equal(truth.Columns(d, s.Coarseness), p.sums[d]) {
					t.Errorf("direction %d differs from truth", d)
				}
			}
			for _, d := range s.withDefaults().Directions {
				if _, tail := truth.Requests(d); tail == 0 && s.IOPS != 2 {
					t.Errorf("direction %d has no tail", d)
				}
			}
		})
	}
}

// TestLogs: logs of a folder have the seeds from that of the spec on, and end where they have the wanted size.
func TestLogs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	s := LogSpec{Seed: 7, MaxBytes: 100_000, Directions: []int{Read, Write}}
	sum, err := s.WriteDir(dir, 5)
	if err != nil || sum < 500_000 || sum > 550_000 {
		t.Errorf("%d bytes, %v", sum, err)
	}
	for i := range 5 {
		got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("out_clat_hist.%d.log", i+1)))
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if _, err := s.Write(&want); err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("log %d is not what its spec writes, %v", i, err)
		}
		s.Seed++
	}
}

// TestLogLooksReal: the defaults look like real logs: 5.6 KB and about 200 bins in a row, and about as many requests
// as wanted.
func TestLogLooksReal(t *testing.T) {
	s := LogSpec{Seconds: 400, Directions: []int{Read, Write}}
	var log bytes.Buffer
	truth, err := s.Write(&log)
	if err != nil {
		t.Fatal(err)
	}
	p := naive(t, log.String())
	if size := truth.Bytes / int64(p.rows); size < 5590 || size > 5750 {
		t.Errorf("%d bytes a row", size)
	}
	if used := p.used / p.rows; used < 180 || used > 260 {
		t.Errorf("%d bins in use", used)
	}
	logged, _ := truth.Requests(Read)
	if perSecond := logged / 399; perSecond < 2400 || perSecond > 3000 {
		t.Errorf("%d requests a second", perSecond)
	}
	if first := p.heads[0]; !strings.HasPrefix(first, "10") || !strings.HasSuffix(first, ",0,4096") {
		t.Errorf("first row is %s", first)
	}
}

// TestStallsRepeatTheTime: after a stall fio writes a row for each missed interval at the same moment.
func TestStallsRepeatTheTime(t *testing.T) {
	for every, isStalled := range map[int]bool{20: true, -1: false} {
		var log bytes.Buffer
		if _, err := (LogSpec{Seed: 3, Seconds: 200, StallEvery: every}).Write(&log); err != nil {
			t.Fatal(err)
		}
		p := naive(t, log.String())
		repeated := 0 // moments of several rows
		for i := 1; i < len(p.heads); i++ {
			if p.heads[i] == p.heads[i-1] && (i == 1 || p.heads[i-1] != p.heads[i-2]) {
				repeated++
			}
		}
		var slow uint64
		for i, n := range p.sums[Read] {
			if lo, _ := bounds(edges3, i); lo > 600e6 {
				slow += n
			}
		}
		if isStalled && (repeated < 3 || slow < uint64(repeated*10)) || !isStalled && repeated > 0 {
			t.Errorf("a stall every %d rows: %d stalls, %d slow requests", every, repeated, slow)
		}
	}
}
