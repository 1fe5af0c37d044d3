// Package memtest measures the peak memory and the processor time of a function. Tests with input that was made to
// exhaust them use it.
package memtest

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

// Usage is what a function used.
type Usage struct {
	Peak int64         // bytes of heap and stacks beyond those in use before
	Time time.Duration // processor time; 0 on Windows
}

// Measure runs f and samples the memory of the process. Garbage that is not collected yet counts. The collector runs
// often, so that the peak depends on f and not on when the collector happens to run, or on what earlier tests left. Other tests must not run at the
// same time. Under the race detector, which needs memory itself, the test is skipped.
func Measure(t testing.TB, f func()) Usage {
	t.Helper()
	if race {
		t.Skip("the race detector itself takes memory")
	}
	runtime.GC()
	before := inUse()
	const garbage = 4 << 20 // bytes, about
	defer debug.SetGCPercent(debug.SetGCPercent(int(min(max(100*garbage/before, 1), 25))))
	done := make(chan struct{})
	peak := before
	var sampler sync.WaitGroup
	sampler.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				peak = max(peak, inUse())
			}
		}
	})
	start := CPUTime()
	f()
	took := CPUTime() - start
	close(done)
	sampler.Wait()
	peak = max(peak, inUse())
	runtime.KeepAlive(f)
	return Usage{Peak: peak - before, Time: took}
}

// Scale returns the size of a test's input, or its cases: small, or large if FIO2ES_TEST_SCALE is set, as in CI.
// Both must exceed the limit that is tested.
func Scale[T any](small, large T) T {
	if os.Getenv("FIO2ES_TEST_SCALE") != "" {
		return large
	}
	return small
}

// Large skips a test or a case that is always large, unless FIO2ES_TEST_SCALE is set.
func Large(t *testing.T) {
	t.Helper()
	if !Scale(false, true) {
		t.Skip("FIO2ES_TEST_SCALE is not set")
	}
}

// inUse returns the bytes of heap objects, including dead ones, and of stacks.
func inUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() + samples[1].Value.Uint64())
}
