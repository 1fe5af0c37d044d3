package matrix

import (
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// TestLinesOfOneWorkload: a line joins depths of one workload. Modes, and runs that differ in what the matrix does not name, are not joined.
func TestLinesOfOneWorkload(t *testing.T) {
	for _, c := range []struct {
		by      string
		options [2]string
		want    bool
	}{
		{"bs,iodepth", [2]string{"bs=4k iodepth=1", "bs=4k iodepth=16"}, true},
		{"bs,iodepth", [2]string{"bs=4k iodepth=1", "bs=4k iodepth=16 direct=0"}, false},
		{"bs,rw", [2]string{"bs=4k rw=randread", "bs=4k rw=read"}, false},
	} {
		by, err := Settings(strings.Split(c.by, ","))
		if err != nil {
			t.Fatal(err)
		}
		m := New(by, "read", RunsOf([]*mapping.Run{made(c.options[0], 100, 100), made(c.options[1], 200, 200)}))[0]
		curve, err := m.Curve(workload.MustNumbers("p99")[0])
		if err != nil || len(curve.lines) != 1 || len(curve.lines[0].dots) != 2 {
			t.Fatalf("%v, %+v", err, curve)
		}
		if got := curve.joins(curve.lines[0].dots[0], curve.lines[0].dots[1]); got != c.want {
			t.Errorf("%s: %v", c.options, got)
		}
	}
}
