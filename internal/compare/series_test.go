package compare

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// windowAt returns a window between two times in milliseconds.
func windowAt(from, to, completed int64) *window.Window {
	at := func(ms int64) time.Time { return time.Time{}.Add(time.Duration(ms) * time.Millisecond) }
	return &window.Window{
		Run: &mapping.RunInfo{}, ElapsedMS: from, Start: at(from), End: at(to), Completed: completed,
	}
}

// windowsOf returns n windows of one second. The i-th has i+1 requests of one microsecond.
func windowsOf(n int) *Series {
	s := &Series{}
	for i := range n {
		h := hist.New(hist.Fio3(0))
		h.AddLatency(1000, float64(i+1))
		s.Add(windowAt(int64(i)*1000, int64(i+1)*1000, int64(i+1)), h)
	}
	return s
}

// TestBlocks: the number of blocks, and of windows in each.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ windows, blocks, fewest, most int }{
		{0, 0, 0, 0}, {1, 1, 1, 1}, {8, 8, 1, 1}, {10, 10, 1, 1}, {25, 10, 2, 3}, {40, 10, 4, 4},
		{60, 15, 4, 4}, {120, 30, 4, 4}, {600, 30, 20, 20}, {959, 30, 31, 32}, {960, 30, 32, 32},
		{961, 30, 31, 34}, {5000, 30, 160, 176},
	} {
		blocks := windowsOf(c.windows).blocks()
		if len(blocks) != c.blocks {
			t.Errorf("%d windows: %d blocks, want %d", c.windows, len(blocks), c.blocks)
		}
		for i, b := range blocks {
			if n := int(b.ms / 1000); n < c.fewest || n > c.most {
				t.Errorf("%d windows: block %d has %d, want %d to %d", c.windows, i, n, c.fewest, c.most)
			}
		}
	}
}

// TestBlocksHaveAll: blocks have all requests and all of the time, including the gaps between windows.
func TestBlocksHaveAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, requests, at, end := &Series{}, int64(0), int64(0), int64(0)
		windows := rapid.IntRange(1, 3000).Draw(t, "windows")
		gap := int64(rapid.IntRange(0, 3).Draw(t, "gap"))
		for i := range windows {
			h := hist.New(hist.Fio3(i % 2))
			h.AddLatency(int64(i), 2)
			s.Add(windowAt(at, at+10, 2), h)
			requests += 2
			end = at + 10
			at = end + gap
		}
		completed, ms, latencies := int64(0), int64(0), 0.0
		for _, b := range s.blocks() {
			completed += b.completed
			ms += b.ms
			latencies += b.latency.Total()
		}
		if completed != requests || ms != end || latencies != float64(2*windows) || s.windows != windows {
			t.Fatalf("%d windows, %d requests (%v latencies) in %d ms; want %d, %d, %d in %d ms",
				s.windows, completed, latencies, ms, windows, requests, 2*windows, end)
		}
		if len(s.grains.All()) > maxGrains {
			t.Fatalf("%d grains", len(s.grains.All()))
		}
	})
}

// TestBlocksAreMeasured: the time of blocks is that of the measured windows, not of their nominal starts. fio's first
// interval is often longer than the others, and begins before its nominal start.
func TestBlocksAreMeasured(t *testing.T) {
	s := &Series{}
	for _, w := range []struct{ nominal, from, to int64 }{{28, 0, 1031}, {1028, 1031, 2031}, {2028, 2030, 2503}} {
		window := windowAt(w.from, w.to, 1)
		window.ElapsedMS = w.nominal
		s.Add(window, nil)
	}
	s.EndBy(2503, 0)
	ms := int64(0)
	for _, b := range s.blocks() {
		ms += b.ms
	}
	if ms != 2503 {
		t.Errorf("blocks of %d ms, want 2503", ms)
	}
}

// TestLasted: a direction lasts as long as its run document says, to the millisecond, if its last window then has a length.
func TestLasted(t *testing.T) {
	for lasted, want := range map[int64]int64{0: 2500, 2510: 2510, 2490: 2490, 1900: 2500} {
		s := &Series{}
		for _, from := range []int64{7, 1000, 2000} {
			s.Add(windowAt(from, from+1000, 1), nil)
		}
		s.EndBy(2507, lasted)
		ms := int64(0)
		for _, b := range s.blocks() {
			ms += b.ms
		}
		if ms != want {
			t.Errorf("lasted %d: blocks of %d ms, want %d", lasted, ms, want)
		}
	}
}

// TestEndBy: the last window ends with the run.
func TestEndBy(t *testing.T) {
	for end, want := range map[int64]int64{8000: 10_000, 9000: 10_000, 9001: 9001, 9400: 9400, 10_000: 10_000, 12_000: 10_000} {
		s, ms := windowsOf(10), int64(0)
		s.EndBy(end, 0)
		for _, b := range s.blocks() {
			ms += b.ms
		}
		if ms != want {
			t.Errorf("a run of %d ms: blocks of %d ms, want %d", end, ms, want)
		}
	}
	(&Series{}).EndBy(1000, 0)
}
