package compare

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// windowsOf makes n windows of a second, the i-th with i+1 requests of a microsecond.
func windowsOf(n int) *Series {
	s := &Series{}
	for i := range n {
		h := hist.New(hist.Fio3(0))
		h.AddLatency(1000, float64(i+1))
		s.Add(Window{Start: int64(i) * 1000, End: int64(i+1) * 1000, Completed: int64(i + 1), Latency: h})
	}
	return s
}

// TestBlocks: how many there are, and how many windows each has.
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

// TestBlocksHold: all requests and all of the time are in the blocks, with the gaps
// between windows, and whichever windows came in parts.
func TestBlocksHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, requests, at, end := &Series{}, int64(0), int64(0), int64(0)
		windows := rapid.IntRange(1, 3000).Draw(t, "windows")
		gap := int64(rapid.IntRange(0, 3).Draw(t, "gap"))
		part := rapid.IntRange(1, 5).Draw(t, "part")
		for i := range windows {
			h := hist.New(hist.Fio3(i % 2))
			h.AddLatency(int64(i), 2)
			s.Add(Window{Start: at, End: at + 10, Completed: 2, Latency: h})
			requests += 2
			if i%part == 0 {
				s.Add(Window{Start: at, End: at + 10, Completed: 1})
				requests++
			}
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
		if len(s.grains) > maxGrains {
			t.Fatalf("%d grains", len(s.grains))
		}
	})
}

// TestEndBy: the last window goes on to the end of the run, if that is within it.
func TestEndBy(t *testing.T) {
	for end, want := range map[int64]int64{8000: 10_000, 9000: 10_000, 9001: 9001, 9400: 9400, 10_000: 10_000, 12_000: 10_000} {
		s, ms := windowsOf(10), int64(0)
		s.EndBy(end)
		for _, b := range s.blocks() {
			ms += b.ms
		}
		if ms != want {
			t.Errorf("a run of %d ms: blocks of %d ms, want %d", end, ms, want)
		}
	}
	(&Series{}).EndBy(1000)
}
