package sink

import (
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
)

// TestSqueeze: bodies of 5 MB over links of so many bytes a second, compressed to a
// seventh at 400 MB/s, go out in the quicker way, but for a few that try the other one.
func TestSqueeze(t *testing.T) {
	const size, ratio, packing, bodies = 5 << 20, 7, 400e6, 2000
	for name, c := range map[string]struct {
		bandwidth float64
		gzip      bool
		tries     int
	}{
		"the same machine":   {3e9, false, 7},
		"10 Gb/s":            {1.1e9, false, 7},
		"1 Gb/s":             {117e6, true, 8},
		"the next continent": {2e6, true, 0},
	} {
		q := newSqueeze(elastic.GzipWherePays)
		packed := 0
		for i := range bodies {
			gzip := q.next(size)
			took := size / c.bandwidth
			if gzip {
				took = took/ratio + size/packing
				packed++
			}
			if i == 0 && !gzip {
				t.Errorf("%s: the first body is not compressed", name)
			}
			q.learn(gzip, size, time.Duration(took*1e9))
		}
		tries := packed - 2 // before anything is known
		if c.gzip {
			tries = bodies - packed
		}
		if tries > c.tries || q.gzip != c.gzip {
			t.Errorf("%s: %d tries, compressed %v", name, tries, q.gzip)
		}
	}
}

// TestSqueezeFollows: a link that becomes slow, and quick again.
func TestSqueezeFollows(t *testing.T) {
	q := newSqueeze(elastic.GzipWherePays)
	run := func(plain, packed time.Duration) {
		for range 3000 {
			gzip := q.next(1 << 20)
			q.learn(gzip, 1<<20, map[bool]time.Duration{false: plain, true: packed}[gzip])
		}
	}
	for _, c := range []struct {
		plain, packed time.Duration
		gzip          bool
	}{{1, 2, false}, {9, 3, true}, {1, 2, false}} {
		if run(c.plain*time.Millisecond, c.packed*time.Millisecond); q.gzip != c.gzip {
			t.Errorf("plain %d ms, compressed %d ms: %+v", c.plain, c.packed, q)
		}
	}
}

// TestSqueezeFixed: settings are obeyed, and so is who refuses bodies as they are. Small
// bodies are not tried on.
func TestSqueezeFixed(t *testing.T) {
	small, refused := newSqueeze(elastic.GzipWherePays), newSqueeze(elastic.GzipWherePays)
	never := newSqueeze(elastic.GzipNever)
	if refused.tooLarge(true) || !refused.tooLarge(false) || !refused.tooLarge(false) || never.tooLarge(false) {
		t.Error("a body is compressed for its size twice, against the settings, or never")
	}
	for name, c := range map[string]struct {
		q    squeeze
		size int
		gzip bool
	}{
		"always":  {newSqueeze(elastic.GzipAlways), 5 << 20, true},
		"never":   {newSqueeze(elastic.GzipNever), 5 << 20, false},
		"small":   {small, 1000, true},
		"refused": {refused, 5 << 20, true},
	} {
		for range 100 {
			if c.q.next(c.size) != c.gzip {
				t.Fatalf("%s: compressed is %v", name, !c.gzip)
			}
			c.q.learn(c.gzip, c.size, time.Second)
			c.q.learn(!c.gzip, c.size, time.Millisecond)
		}
	}
}
