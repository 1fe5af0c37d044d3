package fiolog

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseName(t *testing.T) {
	tests := []struct {
		base string
		want Name
		ok   bool
	}{
		{"out_clat_hist.1.log", Name{Prefix: "out", Kind: ClatHist, Job: 1}, true},
		{"out_clat_hist.log", Name{Prefix: "out", Kind: ClatHist}, true},
		{"output.0_clat_hist.16.log.hostA", Name{Prefix: "output.0", Kind: ClatHist, Job: 16, Host: "hostA"}, true},
		{"output.0_clat.2.log.client01.lab.example.com", Name{Prefix: "output.0", Kind: Clat, Job: 2, Host: "client01.lab.example.com"}, true},
		{"output_clat_hist.3.log.10.0.0.7", Name{Prefix: "output", Kind: ClatHist, Job: 3, Host: "10.0.0.7"}, true},
		{"out_clat_hist.1.log.fz", Name{Prefix: "out", Kind: ClatHist, Job: 1, Stored: true}, true},
		{"out_clat.1.log.fz.hostA", Name{Prefix: "out", Kind: Clat, Job: 1, Stored: true, Host: "hostA"}, true},
		{"out_clat.1.log.fzhost", Name{Prefix: "out", Kind: Clat, Job: 1, Host: "fzhost"}, true},
		{"x_slat.1.log", Name{Prefix: "x", Kind: Slat, Job: 1}, true},
		{"x_lat.1.log", Name{Prefix: "x", Kind: Lat, Job: 1}, true},
		{"x_bw.1.log", Name{Prefix: "x", Kind: BW, Job: 1}, true},
		{"agg-read_bw.log", Name{Prefix: "agg-read", Kind: BW}, true},
		{"x_iops.log.h", Name{Prefix: "x", Kind: IOPS, Host: "h"}, true},
		{"a_clat.1.log_clat_hist.2.log", Name{Prefix: "a_clat.1.log", Kind: ClatHist, Job: 2}, true},
		{"_clat.1.log", Name{Kind: Clat, Job: 1}, true},
		{"out_clat_hist.1.log.", Name{}, false},
		{"out_clat_hist.0.log", Name{}, false},
		{"out_clat_hist.01.log", Name{}, false},
		{"out_clat_hist.+1.log", Name{}, false},
		{"out_clat_hist.99999999999.log", Name{}, false},
		{"out_clat_hist.1.logs", Name{}, false},
		{"out_hist.1.log", Name{}, false},
		{"output.0.hostA", Name{}, false},
		{"clat_hist.1.log", Name{}, false},
		{"", Name{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.base, func(t *testing.T) {
			got, ok := ParseName(tt.base)
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("got %+v, %t, want %+v, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestParseNameRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Name{
			Prefix: rapid.StringMatching(`[a-z0-9_.-]{0,12}`).Draw(t, "prefix"),
			Kind:   Kind(rapid.IntRange(0, int(IOPS)).Draw(t, "kind")),
			Job:    rapid.IntRange(0, 1<<31-1).Draw(t, "job"),
			Host: rapid.StringMatching(`([a-e][a-z0-9-]{0,5}(\.[a-e][a-z0-9-]{0,5}){0,3})?`).
				Filter(func(host string) bool { _, mark := CutCopyMark("x." + host); return mark == "" }).Draw(t, "host"),
			Stored: rapid.Bool().Draw(t, "stored"),
		}
		if got, ok := ParseName(want.base()); !ok || got != want {
			t.Fatalf("%q is %+v, %t, want %+v", want.base(), got, ok, want)
		}
	})
}

// base is the name of the file, as fio and CBT make it.
func (n Name) base() string {
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
		n, ok := ParseName(s)
		if ok && n.Copy == "" && n.base() != s && n.base()+".txt" != s {
			t.Fatalf("%q is %+v, which is %q", s, n, n.base())
		}
		if ok && !strings.Contains(s, n.Copy) {
			t.Fatalf("%q is a copy because of %q", s, n.Copy)
		}
		if strings.Count(s, "_") == 0 {
			if n, ok := ParseName(s); ok {
				t.Fatalf("%q is %+v", s, n)
			}
		}
	})
}
