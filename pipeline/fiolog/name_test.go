package fiolog_test

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

func TestParseName(t *testing.T) {
	tests := []struct {
		base string
		want fiolog.Name
		ok   bool
	}{
		{"out_clat_hist.1.log", fiolog.Name{Prefix: "out", Kind: fiolog.ClatHist, Job: 1}, true},
		{"out_clat_hist.log", fiolog.Name{Prefix: "out", Kind: fiolog.ClatHist}, true},
		{"output.0_clat_hist.16.log.hostA", fiolog.Name{Prefix: "output.0", Kind: fiolog.ClatHist, Job: 16, Host: "hostA"}, true},
		{"output.0_clat.2.log.client01.lab.example.com", fiolog.Name{Prefix: "output.0", Kind: fiolog.Clat, Job: 2, Host: "client01.lab.example.com"}, true},
		{"output_clat_hist.3.log.10.0.0.7", fiolog.Name{Prefix: "output", Kind: fiolog.ClatHist, Job: 3, Host: "10.0.0.7"}, true},
		{"out_clat_hist.1.log.fz", fiolog.Name{Prefix: "out", Kind: fiolog.ClatHist, Job: 1, Stored: true}, true},
		{"out_clat.1.log.fz.hostA", fiolog.Name{Prefix: "out", Kind: fiolog.Clat, Job: 1, Stored: true, Host: "hostA"}, true},
		{"out_clat.1.log.fzhost", fiolog.Name{Prefix: "out", Kind: fiolog.Clat, Job: 1, Host: "fzhost"}, true},
		{"x_slat.1.log", fiolog.Name{Prefix: "x", Kind: fiolog.Slat, Job: 1}, true},
		{"x_lat.1.log", fiolog.Name{Prefix: "x", Kind: fiolog.Lat, Job: 1}, true},
		{"x_bw.1.log", fiolog.Name{Prefix: "x", Kind: fiolog.BW, Job: 1}, true},
		{"agg-read_bw.log", fiolog.Name{Prefix: "agg-read", Kind: fiolog.BW}, true},
		{"x_iops.log.h", fiolog.Name{Prefix: "x", Kind: fiolog.IOPS, Host: "h"}, true},
		{"a_clat.1.log_clat_hist.2.log", fiolog.Name{Prefix: "a_clat.1.log", Kind: fiolog.ClatHist, Job: 2}, true},
		{"_clat.1.log", fiolog.Name{Kind: fiolog.Clat, Job: 1}, true},
		{"out_clat_hist.1.log.", fiolog.Name{}, false},
		{"out_clat_hist.0.log", fiolog.Name{}, false},
		{"out_clat_hist.01.log", fiolog.Name{}, false},
		{"out_clat_hist.+1.log", fiolog.Name{}, false},
		{"out_clat_hist.99999999999.log", fiolog.Name{}, false},
		{"out_clat_hist.1.logs", fiolog.Name{}, false},
		{"out_hist.1.log", fiolog.Name{}, false},
		{"output.0.hostA", fiolog.Name{}, false},
		{"clat_hist.1.log", fiolog.Name{}, false},
		{"", fiolog.Name{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.base, func(t *testing.T) {
			got, ok := fiolog.ParseName(tt.base)
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("got %+v, %t, want %+v, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestParseNameRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := fiolog.Name{
			Prefix: rapid.StringMatching(`[a-z0-9_.-]{0,12}`).Draw(t, "prefix"),
			Kind:   fiolog.Kind(rapid.IntRange(0, int(fiolog.IOPS)).Draw(t, "kind")),
			Job:    rapid.IntRange(0, 1<<31-1).Draw(t, "job"),
			Host: rapid.StringMatching(`([a-e][a-z0-9-]{0,5}(\.[a-e][a-z0-9-]{0,5}){0,3})?`).
				Filter(func(host string) bool { _, mark := fiolog.CutCopyMark("x." + host); return mark == "" }).Draw(t, "host"),
			Stored: rapid.Bool().Draw(t, "stored"),
		}
		if got, ok := fiolog.ParseName(base(want)); !ok || got != want {
			t.Fatalf("%q is %+v, %t, want %+v", base(want), got, ok, want)
		}
	})
}

// base is the name of the file, as fio and CBT make it.
func base(n fiolog.Name) string {
	job, stored, host := "", "", ""
	if n.Job > 0 {
		job = "." + strconv.Itoa(n.Job)
	}
	if n.Stored {
		stored = ".fz"
	}
	if n.Host != "" {
		host = "." + n.Host
	}
	return n.Prefix + "_" + n.Kind.String() + job + ".log" + stored + host
}

func FuzzName(f *testing.F) {
	f.Add("output.0_clat_hist.16.log.fz.client01.lab.example.com")
	f.Add("_lat.log")
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := fiolog.ParseName(s)
		if ok && n.Copy == "" && base(n) != s && base(n)+".txt" != s {
			t.Fatalf("%q is %+v, which is %q", s, n, base(n))
		}
		if ok && !strings.Contains(s, n.Copy) {
			t.Fatalf("%q is a copy because of %q", s, n.Copy)
		}
		if strings.Count(s, "_") == 0 {
			if n, ok := fiolog.ParseName(s); ok {
				t.Fatalf("%q is %+v", s, n)
			}
		}
	})
}
