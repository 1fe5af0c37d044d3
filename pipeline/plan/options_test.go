package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// optionsOf are the options of a job "a". Some of them are those of all jobs.
func optionsOf(own, global map[string]string) jobOptions {
	return jobOptions{job: "dir/a", own: own, global: global}
}

// TestMayWrite: the prefix of a job's logs is in its options, or else it is the job's name.
func TestMayWrite(t *testing.T) {
	for _, c := range []struct {
		own, global map[string]string
		want        []string
	}{
		{nil, nil, []string{"a"}},
		{map[string]string{"write_hist_log": "/tmp/x"}, nil, []string{"x"}},
		{nil, map[string]string{"write_hist_log": "x"}, []string{"x"}},
		{map[string]string{"write_lat_log": "logs/y"}, nil, []string{"a", "y"}},
		{map[string]string{"write_hist_log": "x"}, map[string]string{"write_lat_log": "y"}, []string{"x"}},
	} {
		o := optionsOf(c.own, c.global)
		for _, prefix := range []string{"a", "dir", "x", "y", ""} {
			if got := o.mayWrite(prefix); got != slices.Contains(c.want, prefix) {
				t.Errorf("%v, %v: %q: %v", c.own, c.global, prefix, got)
			}
		}
	}
}

// TestDirectionsOfOptions: a report that has all directions in one is of the only direction of its job.
func TestDirectionsOfOptions(t *testing.T) {
	for rw, want := range map[string]string{
		"": "[read]", "read": "[read]", "randread": "[read]", "randwrite": "[write]", "trim": "[trim]",
		"trimwrite": "[write trim]", "randrw": "[read write]",
	} {
		if got := fmt.Sprint(optionsOf(map[string]string{"rw": rw}, nil).directions()); got != want {
			t.Errorf("rw=%s: %s, want %s", rw, got, want)
		}
	}
}

// TestFailed: fio counts requests that failed, and measures no latency of them; anything else is a damaged report.
func TestFailed(t *testing.T) {
	for _, c := range []struct {
		total, n, binned uint64
		errno            int
		want             int64
		ok               bool
	}{
		{100, 100, 100, 0, 0, true},
		{100, 100, 0, 0, 0, true}, // without bins
		{100, 90, 90, 0, 10, true},
		{100, 0, 90, 5, 10, true}, // before fio 3.18
		{100, 102, 102, 0, -2, true},
		{100, 100, 90, 0, 0, false},
		{100, 0, 110, 5, 0, false},
	} {
		stats := &fiolog.DirectionStats{TotalIOs: c.total}
		stats.Clat.N = c.n
		stats.Clat.Bins = recordOf([]uint64{c.binned}).Bins
		got, ok := (&Entry{Job: &fiolog.Job{Error: c.errno}}).Failed(stats)
		if got != c.want || ok != c.ok {
			t.Errorf("%+v: %d, %v", c, got, ok)
		}
	}
}

// TestCompleteTerse: what the job file says makes requests of bytes, moves percentiles from submission, and says what reads are.
func TestCompleteTerse(t *testing.T) {
	for _, c := range []struct{ name, job, want string }{
		{"unified, of a fio that names directions", "[a]\nrw=randrw\nbs=4k\nunified_rw_reporting=both", "read 40 requests, 19.970 IOPS, clat 50"},
		{"one size", "[a]\nrw=randread\nbs=4k", "read 40 requests, 19.970 IOPS, clat 50"},
		{"another job", "[b]\nrw=randread\nbs=4k", "read 0 requests, 19.000 IOPS, clat 50"},
		{"a size that its IOPS contradict", "[a]\nrw=randread\nbs=8k", "read 0 requests, 19.000 IOPS, clat 50"},
		{"several sizes", "[a]\nrw=randread\nbsrange=4k-8k", "read 0 requests, 19.000 IOPS, clat 50"},
		{"a part of a KiB", "[a]\nrw=randread\nbs=512", "read 0 requests, 19.000 IOPS, clat 50"},
		{"from submission", "[a]\nrw=randread\nbs=4k\nlat_percentiles=1", "read 40 requests, 19.970 IOPS, lat 50"},
		{"unified", "[a]\nrw=randrw\nbs=4k\nunified_rw_reporting=1", "all 40 requests, 19.970 IOPS, clat 50"},
		{"a sum of sections", "[global]\ngroup_reporting\nbs=4k\nrw=read\n[a]\n[b]", "read 0 requests, 19.000 IOPS, clat 50"},
	} {
		job, err := fioargs.ReadJobFile(strings.NewReader(c.job+"\n"), "x.fio")
		if err != nil {
			t.Fatal(err)
		}
		r := &fiolog.Report{Format: fiolog.Terse, Version: "fio-3.1", Jobs: []fiolog.Job{{Name: "a"}}}
		if strings.HasSuffix(c.job, "both") {
			r.Version = "fio-3.27"
		}
		r.Jobs[0].Directions[fiolog.Read] = fiolog.DirectionStats{
			IOBytes: 160 << 10, Uncounted: true, Runtime: 2003, IOPS: 19, Clat: fiolog.Latency{Percentiles: []fiolog.Percentile{{Rank: 50}}},
		}
		p := &planner{Plan: &Plan{Run: &assign.Run{Sections: job.Jobs}, Outputs: []*Output{{Execution: evidence.Execution{Fio: r}}}}}
		p.completeText()
		direction, s := "read", &r.Jobs[0].Directions[fiolog.Read]
		if r.Jobs[0].Mixed != nil {
			direction, s = "all", r.Jobs[0].Mixed
		}
		kind, ranks := "clat", s.Clat.Percentiles
		if len(ranks) == 0 {
			kind, ranks = "lat", s.Lat.Percentiles
		}
		if got := fmt.Sprintf("%s %d requests, %.3f IOPS, %s %v", direction, s.TotalIOs, s.IOPS, kind, ranks[0].Rank); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestCompleteText: normal output lacks most options, and the section of the job file has them, unless it says something
// else than what fio printed.
func TestCompleteText(t *testing.T) {
	const rest = "\nrw=randread\nbs=4k\nstartdelay=2"
	for _, c := range []struct{ name, job, want string }{
		{"the same", "[a]\nioengine=libaio\niodepth=16" + rest, "2"},
		{"an engine by its file", "[a]\nioengine=external:/opt/libaio.so\niodepth=16" + rest, "2"},
		{"another depth", "[a]\nioengine=libaio\niodepth=8" + rest, ""},
		{"the usual depth", "[a]\nioengine=libaio" + rest, ""},
		{"another job", "[b]\nioengine=libaio\niodepth=16" + rest, ""},
		{"a group", "[global]\ngroup_reporting\n[a]\nioengine=libaio\niodepth=16" + rest + "\n[b]\nrw=write", ""},
	} {
		job, err := fioargs.ReadJobFile(strings.NewReader(c.job+"\n"), "x.fio")
		if err != nil {
			t.Fatal(err)
		}
		printed := map[string]string{"rw": "randread", "bs": "4096", "ioengine": "libaio", "iodepth": "16"}
		r := &fiolog.Report{Format: fiolog.Normal, Jobs: []fiolog.Job{{Name: "a", Options: printed}}}
		p := &planner{Plan: &Plan{Run: &assign.Run{Sections: job.Jobs}, Outputs: []*Output{{Execution: evidence.Execution{Fio: r}}}}}
		p.completeText()
		if got := r.Jobs[0].Options; got["startdelay"] != c.want || got["bs"] != "4096" {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
