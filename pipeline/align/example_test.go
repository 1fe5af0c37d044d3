package align_test

import (
	"context"
	"fmt"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Two jobs ran side by side, the second from 500 ms later on. Its device stalled: a
// request that took 2.3 s is in the row that was due at 2000 and came at 3400.
func Example() {
	type row struct {
		end  int64 // milliseconds since the job's start
		bins []hist.Bin
	}
	layout := hist.Fio3(0)
	ms := func(latency float64) uint32 { return uint32(layout.Index(int64(latency * 1e6))) }
	stream := func(job string, offset int64, rows ...row) *align.Stream {
		splitter := align.NewSplitter(1000) // log_hist_msec
		var ready []align.Row
		return &align.Stream{Host: "client01", Job: job, Next: func() (align.Row, bool) {
			for len(ready) == 0 && len(rows) > 0 {
				total := uint64(0)
				for _, b := range rows[0].bins {
					total += b.Count
				}
				ready = splitter.Split(rows[0].end, fiolog.Read, layout, rows[0].bins, total)
				rows = rows[1:]
			}
			if len(ready) == 0 {
				return align.Row{}, false
			}
			next := ready[0]
			ready = ready[1:]
			next.Start += offset
			next.End += offset
			return next, true
		}}
	}

	_, err := align.Merge(context.Background(), []*align.Stream{
		stream("1", 0, row{1003, []hist.Bin{{Index: ms(0.5), Count: 100}}}, row{2001, []hist.Bin{{Index: ms(0.5), Count: 80}}}),
		stream("2", 500, row{1000, []hist.Bin{{Index: ms(0.5), Count: 60}}}, row{3400, []hist.Bin{{Index: ms(0.5), Count: 20}, {Index: ms(2300), Count: 1}}}),
	}, align.Options{Window: 1000, Tolerance: 50}, func(w *align.Window) error {
		_, err := fmt.Printf("%d to %d ms: %d completed, weight %.2f, slowest %.0f ms\n",
			w.Elapsed, w.Elapsed+1000, w.Completed, w.Latencies.Total(), w.Latencies.Percentile(1).Value/1e6)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0 to 1000 ms: 130 completed, weight 130.00, slowest 1 ms
	// 1000 to 2000 ms: 120 completed, weight 120.17, slowest 1 ms
	// 2000 to 3000 ms: 10 completed, weight 10.44, slowest 1 ms
	// 3000 to 4000 ms: 1 completed, weight 0.39, slowest 2298 ms
}
