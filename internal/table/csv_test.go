package table

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSafeCell(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", " ": " ", "client01": "client01", "p99 <= 10ms": "p99 <= 10ms", "a=b": "a=b", "'x": "'x",
		"=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0", "+1+1": "'+1+1", "-2+3": "'-2+3", "@SUM(1)": "'@SUM(1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1",
		" =1": "' =1", "\uff1d1": "'\uff1d1", "-": "'-", "-Inf": "'-Inf", "-0x1p4": "'-0x1p4",
		"-250": "-250", "+5": "+5", "-1.5e-3": "-1.5e-3", "12": "12",
	} {
		if got := safeCell(cell); got != want {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
}

func TestCSVWriter(t *testing.T) {
	cells := []string{"=1", "a,b", "-3", "x\ny"}
	for exact, want := range map[bool][]string{true: cells, false: {"'=1", "a,b", "-3", "x\ny"}} {
		var out strings.Builder
		w := &csvWriter{Writer: csv.NewWriter(&out), exact: exact}
		if err := w.Write(cells); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		if err != nil || w.Error() != nil {
			t.Fatal(err, w.Error())
		}
		if diff := cmp.Diff([][]string{want}, rows); diff != "" {
			t.Errorf("exact %v: %s", exact, diff)
		}
	}
}
