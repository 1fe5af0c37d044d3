package table

import (
	"testing"
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
