package fioargs

import (
	"strings"
	"testing"
)

// TestRowsOf: the rows of all jobs, by what they are to do and for how long.
func TestRowsOf(t *testing.T) {
	for line, want := range map[string]string{
		"--name=a": "log_hist_msec=1000",
		"--runtime=60 --name=a --name=b --runtime=0":     "log_hist_msec=1000",
		"--runtime=28m --name=a":                         "log_hist_msec=100 log_hist_coarseness=2",
		"--runtime=10m --rw=randrw --name=a --name=b":    "log_hist_msec=250 log_hist_coarseness=2",
		"--runtime=10m --rw=trim --name=a --numjobs=14":  "log_hist_msec=500 log_hist_coarseness=2",
		"--runtime=10m --rw=write --name=a --numjobs=15": "log_hist_msec=1000",
		"--runtime=1d --rw=write --name=a --numjobs=15":  "log_hist_msec=1000",
	} {
		c, err := Parse(strings.Fields("fio "+line), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(RowsOf(c.Jobs).Options(), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
