package where

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// TestColumns: fields of conditions are columns of lists. A
// name that is also a column of lists means that column.
func TestColumns(t *testing.T) {
	run := aRun()
	run.Read = run.Write
	for _, c := range []struct{ format, names, want string }{
		{table.CSV, "run,bs,label.release", "run,op_size,label.release\n4f1d2c00,4096,reef\n"},
		{table.CSV, "direction,'label.my rack',host,hosts,duration,end", "direction,label.my rack,host,hosts,duration,end\n" +
			"read,7,\"client1, client2\",2,600,2026-10-01T09:22:00.000Z\nwrite,7,\"client1, client2\",,,2026-10-01T09:22:00.000Z\n"},
		{table.Text, "write.iops,option.ioengine,host", "WRITE.IOPS  OPTION.IOENGINE  HOST\n     20.5k  rbd              client1, client2\n"},
	} {
		var b bytes.Buffer
		columns, err := Columns(strings.Split(c.names, ","))
		if err != nil {
			t.Fatal(err)
		}
		brief := new(mapping.Run)
		if err := brief.UnmarshalLight(run.AppendLight(nil), mapping.AllMembers); err != nil {
			t.Fatal(err)
		}
		to := table.New(&b, c.format, columns)
		for _, l := range facts.LinesFor(columns, brief) {
			if err := to.Write(l); err != nil {
				t.Fatal(err)
			}
		}
		if err := to.End(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%s: %s", c.names, diff)
		}
	}
	for _, name := range []string{"size", "write.p99", "label.", "bs=4k", "'x", ""} {
		if _, err := Columns([]string{name}); err == nil {
			t.Errorf("a column %q", name)
		}
	}
	for _, name := range ColumnNames() {
		if _, err := Columns([]string{name}); err != nil {
			t.Error(err)
		}
	}
}

// TestOrderOfFields: runs can be sorted by any field, the highest and the latest first. Runs without the value are
// last.
func TestOrderOfFields(t *testing.T) {
	a, b, none := aRun(), aRun(), &mapping.Run{}
	b.Run.End, b.Run.Labels, b.CBT.OpSize, b.Fio.Options = b.Run.End.AddDate(0, 0, 1), map[string]string{"release": "squid"}, 8192, map[string]string{"ioengine": "libaio"}
	b.Write = &mapping.Totals{IOPS: 30000}
	a.Program.Version, b.Program.Version = "v2", "v1"
	for name, want := range map[string][]*mapping.Run{
		"end": {b, a, none}, "label.release": {a, b, none}, "bs": {b, a, none}, "option.ioengine": {b, a, none}, "fio2es": {b, a, none}, "write.iops": {b, a, none}, "write.p99": {a, b, none},
	} {
		order, err := OrderOf(name)
		if err != nil {
			t.Fatal(name, err)
		}
		got := []*mapping.Run{none, a, b}
		if order.Sort(got, false); name == "write.p99" {
			got, want = got[:1], want[:1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// runOf returns a run with a p99 in microseconds.
func runOf(name string, start time.Time, p99 int64) *mapping.Run {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(p99*1000, 1)
	t := &mapping.Totals{Requests: 100, IOPS: float64(p99), Latency: mapping.NewLatency(h, nil)}
	return &mapping.Run{Run: mapping.RunInfo{Name: name, Start: start}, All: t, Write: t}
}

// TestOrders: each order has the highest first, and equal runs keep their order.
func TestOrders(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	slow, fast := runOf("slow", start, 900), runOf("fast", start.Add(time.Hour), 100)
	parts := runOf("parts", start.Add(-time.Hour), 500) // only its directions have latencies
	parts.All = &mapping.Totals{}
	for _, o := range Orders() {
		want := "slow parts fast"
		switch o.Name {
		case "start":
			want = "fast slow parts"
		case "requests": // all have the same
			want = "parts fast slow"
		}
		runs := []*mapping.Run{fast, parts, slow}
		if o.Name == "requests" {
			runs = []*mapping.Run{parts, fast, slow}
		}
		o.Sort(runs, false)
		if got := runs[0].Run.Name + " " + runs[1].Run.Name + " " + runs[2].Run.Name; got != want {
			t.Errorf("%s: %s, want %s", o.Name, got, want)
		}
		o.Sort(runs, true)
		if runs[2].Run.Name != strings.Fields(want)[0] && o.Name != "requests" {
			t.Errorf("%s, the lowest first: %s is last", o.Name, runs[2].Run.Name)
		}
	}
	if _, err := OrderOf("size"); err == nil {
		t.Error("an order by a column that is not there")
	}
}

// TestTop: the first runs of a list are those of the whole list, sorted, also if runs that are not wanted are left out, and if the list is
// not in the order of a history. Wants may be called before the runs before are added.
func TestTop(t *testing.T) {
	for _, order := range []*Order{ColumnOrder("p99"), ColumnOrder("start")} {
		for _, isReversed := range []bool{false, true} {
			for _, most := range []int{0, 7, 3000} {
				top, wanted := Top{Order: order, IsReversed: isReversed, Most: most}, Top{Order: order, IsReversed: isReversed, Most: most}
				shuffled := Top{Order: order, IsReversed: isReversed, Most: most, InAnyOrder: true}
				var all, some []*mapping.Run
				for i := range 2500 {
					run := runOf(strconv.Itoa(i), time.Unix(int64((5000-i)/3), 0), int64(i*7919%500+1))
					run.Run.ID = strconv.Itoa(10_000 + i)
					all = append(all, run)
				}
				for i, run := range all {
					if top.Add(run); wanted.Wants(run) {
						some = append(some, run)
					}
					if other := all[i*1009%len(all)]; shuffled.Wants(other) {
						shuffled.Add(other)
					}
					if i%50 == 49 {
						for _, run := range some {
							wanted.Add(run)
						}
						some = nil
					}
				}
				if order.Sort(all, isReversed); most > 0 {
					all = all[:min(most, len(all))]
				}
				if got, few, any := top.Runs(), wanted.Runs(), shuffled.Runs(); !slices.Equal(got, all) || !slices.Equal(few, all) || !slices.Equal(any, all) || wanted.Len() != 2500 {
					t.Errorf("%s: the first %d of %d, reversed %v: %d, %d and %d of %d others", order.Name, most, len(all), isReversed, len(got), len(few), len(any), wanted.Len())
				}
			}
		}
	}
}

// TestOrdersOfColumns: the highest numbers are first, texts are sorted from A to Z, and unknown values are last.
func TestOrdersOfColumns(t *testing.T) {
	runs := map[string]*mapping.Run{}
	for name, settings := range map[string]mapping.CBT{"a": {Mode: "write", OpSize: 4096}, "b": {Mode: "randread", OpSize: 65536}, "c": {}} {
		run := runOf(name, time.Time{}, 100)
		run.CBT, run.All.Bandwidth = settings, float64(settings.OpSize)
		runs[name] = run
	}
	for order, want := range map[string]string{"op_size": "b a c", "mode": "b a c", "name": "a b c", "bandwidth": "b a c", "p99_9": "a b c"} {
		o, err := OrderOf(order)
		if err != nil {
			t.Fatal(err)
		}
		list := []*mapping.Run{runs["a"], runs["b"], runs["c"]}
		o.Sort(list, false)
		if got := list[0].Run.Name + " " + list[1].Run.Name + " " + list[2].Run.Name; got != want {
			t.Errorf("%s: %s, want %s", order, got, want)
		}
	}
}

// TestChosenColumns: columns come in the order of the names, settings as text, and latencies with their marks for programs.
func TestChosenColumns(t *testing.T) {
	run := runOf("a", time.Time{}, 100)
	run.CBT, run.Run.ID, run.Run.Archive = mapping.CBT{OpSize: 4096, Pool: "rbd"}, "0123456789", "n"
	for _, c := range []struct{ format, names, want string }{
		{table.CSV, "pool_profile,op_size,run,p99.9", "pool_profile,op_size,run,direction,p99_9_us,open,source\nrbd,4096,0123456789,write,99.84,,\n"},
		{table.Text, "Pool_profile,op_size,run,p99.9", "POOL  BLOCK SIZE  RUN       DIR     P99.9\nrbd   4KiB        01234567  write  99.8µs\n"},
		{table.Text, "archive,name,benchmark", "ARCHIVE  NAME\nn        n:a 4K\n"},
	} {
		var b bytes.Buffer
		columns, err := Columns(strings.Split(c.names, ","))
		if err != nil {
			t.Fatal(err)
		}
		to := table.New(&b, c.format, columns)
		for _, l := range facts.Lines(run) {
			if err := to.Write(l); err != nil {
				t.Fatal(err)
			}
		}
		if err := to.End(); err != nil || b.String() != c.want {
			t.Errorf("%s: %v\n%swant\n%s", c.names, err, &b, c.want)
		}
	}
}
