package where

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		if err := json.Unmarshal(run.AppendLight(nil), brief); err != nil {
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
