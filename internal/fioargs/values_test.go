package fioargs

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// sizes are texts with the bytes that fio takes them for; 0 for those that fio2es does not read.
var sizes = map[string]int64{
	"4k": 4096, "4K": 4096, "4kb": 4096, "4ki": 4096, "4KiB": 4000, "4kib": 4000, "512": 512, "512b": 512, "4096B": 4096,
	"1m": 1 << 20, "1MiB": 1e6, "2g": 2 << 30, "3gib": 3e9, "1t": 1 << 40, "1tib": 1e12, "2p": 2 << 50, "1pib": 1e15,
	"4k,4k": 0, "4k-8k": 0, "": 0, "k": 0, "-4k": 0, "0": 0, "9999999p": 0, "4x": 0, "${BS}": 0, "4bk": 0, "4ib": 0, "4kk": 0,
	" 8k": 0, "1.5k": 0, "0x1000": 0, "4i": 0,
}

func TestParseSize(t *testing.T) {
	for text, want := range sizes {
		if got, ok := ParseSize(text); got != want || ok != (want > 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
}

// times are texts with the durations that fio takes them for; -1 for those that fio2es does not read.
var times = map[string]time.Duration{
	"30": 30 * time.Second, "5m": 5 * time.Minute, "5M": 5 * time.Minute, "30s": 30 * time.Second, "1500ms": 1500 * time.Millisecond,
	"7msec": 7 * time.Millisecond, "2h": 2 * time.Hour, "1d": 24 * time.Hour, "10us": 10 * time.Microsecond, "0": 0,
	"3usec": 3 * time.Microsecond, "2min": -1, "2sec": -1, "2hour": -1, "1day": -1, // microseconds to fio
	"": -1, "s": -1, "-1": -1, "5y": -1, "1.5": -1, "99999999999999999": -1, "1-3": -1, "1:30": -1,
}

func TestParseTime(t *testing.T) {
	for text, want := range times {
		if got, ok := ParseTime(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
}

// TestUnitsAsFio: fio takes sizes and times for the same.
func TestUnitsAsFio(t *testing.T) {
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("fio is not installed")
	}
	args, want := []string{"--parse-only", "--debug=parse"}, map[string]int64{}
	for text, size := range sizes {
		if size > 0 {
			args, want["size "+text] = append(args, "--name=a", "--size="+text), size
		}
	}
	for text, d := range times {
		if d >= 0 {
			args, want["runtime "+text] = append(args, "--name=a", "--runtime="+text), d.Microseconds()
		}
	}
	out, err := exec.CommandContext(t.Context(), fio, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	taken := regexp.MustCompile(`__handle_option=(\w+), .*ptr=(.*)\n.*ret=0, out=(\d+)`)
	for _, m := range taken.FindAllStringSubmatch(string(out), -1) {
		key := m[1] + " " + m[2]
		if n, ok := want[key]; ok && strconv.FormatInt(n, 10) != m[3] {
			t.Errorf("%s: fio takes %s, want %d", key, m[3], n)
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("fio took none of %v", want)
	}
}
