package fioargs

import (
	"fmt"
	"strings"
	"testing"
)

func optionsOf(text string) map[string]string {
	options := map[string]string{}
	for _, option := range strings.Fields(text) {
		name, value, _ := strings.Cut(option, "=")
		options[name] = value
	}
	return options
}

// TestMeasured: options that measure the same have one form: defaults, other names, units, and flags do not matter, and
// neither do names, logs and times. What is not known here counts.
func TestMeasured(t *testing.T) {
	const base = "rw=randread bs=4k size=1g filename=/dev/a"
	for text, want := range map[string]string{
		"": "map[]",
		"rw=read bs=4096 ioengine=psync iodepth=1 numjobs=1 direct=0 sync=none rwmixread=50 invalidate=1": "map[]",
		base: "map[filename:/dev/a rw:randread size:1g]",
		base + " name=a description=d write_hist_log=x log_hist_msec=500 runtime=60 time_based ramp_time=5 randseed=7 stonewall": "map[filename:/dev/a rw:randread size:1g]",
		"readwrite=randread blocksize=4KB size=1024m filename=/dev/a buffered=1":                                                 "map[filename:/dev/a rw:randread size:1g]",
		"direct=1":                                "map[direct:1]",
		"buffered=0":                              "map[direct:1]",
		"direct=0 buffered=0":                     "map[buffered:0]",
		"rw=readwrite rwmixwrite=30":              "map[rw:rw rwmixread:70]",
		"rw=readwrite:8 rwmixwrite=50":            "map[rw:rw:8]",
		"bs=4k,65536 rate_iops=1000,2k thinktime": "map[bs:4k,64k rate_iops:1000,2k thinktime:1]",
		"thinktime=900ms max_latency=2000":        "map[max_latency:2ms thinktime:900ms]",
		"thinktime=900000 thinktime_spin=0":       "map[thinktime:900ms]",
		"norandommap":                             "map[norandommap:1]",
		"some_new_option=0":                       "map[some_new_option:0]",
		"write_hint=short write_mode=verify":      "map[write_hint:short write_mode:verify]",
		"bssplit=4K/50:8k/50 size=50%":            "map[bssplit:4K/50:8k/50 size:50%]",
	} {
		if got := fmt.Sprint(Measured(optionsOf(text), false)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	got := Measured(map[string]string{"bs": "4096 | 8192", "filename": "/tmp/1", "rbdname": "cbt-1", "direct": "0 | 1"}, true)
	if want := "map[bs:4k | 8k direct:0 | 1]"; fmt.Sprint(got) != want {
		t.Errorf("of CBT: %v, want %s", got, want)
	}
	if OptionDefault("direct") != "0" || OptionDefault("size") != "" {
		t.Error("defaults")
	}
}
