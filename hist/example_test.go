package hist_test

import (
	"fmt"

	"github.com/fio2es/fio2es/hist"
)

// Two hosts served the same load, and one of them logged coarser bins. Percentiles
// cannot be averaged; histograms can be merged.
func Example() {
	var all hist.Histogram
	for _, host := range []struct {
		columns int // bins in a row of the log
		bins    []hist.Bin
	}{
		{1856, []hist.Bin{{Index: 700, Count: 900}, {Index: 720, Count: 80}, {Index: 960, Count: 20}}},
		{232, []hist.Bin{{Index: 87, Count: 990}, {Index: 130, Count: 10}}},
	} {
		layout, err := hist.Resolve(host.columns, hist.Hint{})
		if err != nil {
			fmt.Println(err)
			return
		}
		all.AddBins(layout, host.bins)
	}

	fmt.Printf("%v requests, %v\n", all.Total(), all.Layout())
	for _, q := range []float64{0.5, 0.99, 0.999} {
		a := all.Percentile(q)
		fmt.Printf("p%v: %.0f µs (%.0f … %.0f)\n", q*100, a.Value/1e3, a.Low/1e3, a.High/1e3)
	}
	within, _, _ := all.CountWithin(1e6)
	fmt.Printf("within 1 ms: %.2f %%\n", 100*within/all.Total())
	// Output:
	// 2000 requests, fio 3, coarseness 3
	// p50: 64 µs (61 … 66)
	// p99: 1111 µs (1049 … 1180)
	// p99.9: 2818 µs (2621 … 2884)
	// within 1 ms: 98.50 %
}

// The bins of the finest layout, and what they become when eight are joined.
func ExampleLayout() {
	for _, layout := range []hist.Layout{hist.Fio3(0), hist.Fio3(3)} {
		bin := layout.Index(1_000_000)
		low, high := layout.Bounds(bin)
		fmt.Printf("%v: 1 ms is in bin %d of %d, [%d, %d) ns\n", layout, bin, layout.Len(), low, high)
	}
	// Output:
	// fio 3, coarseness 0: 1 ms is in bin 954 of 1856, [999424, 1007616) ns
	// fio 3, coarseness 3: 1 ms is in bin 119 of 232, [983040, 1048576) ns
}
