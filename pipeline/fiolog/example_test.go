package fiolog_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// A log of the coarsest layout: 29 bins, most of them zero.
const exampleLog = "1003, 0, 4096, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\n" +
	"2003, x, 4096, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\n" +
	"3003, 0, 4096, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\n"

func ExampleReader() {
	var all hist.Histogram
	r := fiolog.NewReader(strings.NewReader(exampleLog), "out_clat_hist.1.log", fiolog.ClatHist)
	for {
		rec, err := r.Next()
		if bad := (*fiolog.SyntaxError)(nil); errors.As(err, &bad) {
			fmt.Println("skipped:", bad)
			continue
		} else if err == io.EOF {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
		all.AddBins(rec.Layout, rec.Bins)
		fmt.Println(rec.Time, rec.Direction, rec.Bins)
	}
	fmt.Println(all.Total(), "requests")
	// Output:
	// 1003 read [{9 7} {10 3}]
	// skipped: out_clat_hist.1.log:2:7: got "x", want a direction: 0 (read), 1 (write) or 2 (trim)
	// 3003 read [{9 8} {10 2}]
	// 20 requests
}

func ExampleReadReports() {
	const output = "Starting 1 process\n{\n \"fio version\" : \"fio-3.36\",\n \"jobs\" : [ { \"jobname\" : \"j\", \"read\" : { \"total_ios\" : 7 } } ]\n}\nj: (groupid=0)\n"
	for report, err := range fiolog.ReadReports(strings.NewReader(output), "out.txt") {
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, j := range report.Jobs {
			fmt.Println(report.Version, j.Name, j.Directions[fiolog.Read].TotalIOs)
		}
	}
	// Output: fio-3.36 j 7
}

func ExampleParseName() {
	n, ok := fiolog.ParseName("output.0_clat_hist.16.log.client01.lab.example.com")
	fmt.Println(n.Prefix, n.Kind, n.Job, n.Host, ok)
	// Output: output.0 clat_hist 16 client01.lab.example.com true
}
