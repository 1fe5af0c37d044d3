package fiolog_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// orderOf reads a log of rows with times, each with r, w or t for its direction, and says which of them "+" continue,
// "*" begin a new job, or "-" are left out.
func orderOf(tb rapid.TB, times []string) string {
	tb.Helper()
	var log strings.Builder
	answers := make([]byte, len(times))
	for i, s := range times {
		d := strings.IndexByte("rwt", s[len(s)-1])
		fmt.Fprintf(&log, "%s, %d, 4096, 1%s\n", s[:len(s)-1], d, strings.Repeat(", 0", 28))
		answers[i] = '-'
	}
	rows, _, err := readAll(tb, strings.NewReader(log.String()))
	if err != io.EOF {
		tb.Fatalf("%s: %v", times, err)
	}
	for _, r := range rows {
		answers[r.Line-1] = map[bool]byte{false: '+', true: '*'}[r.NewJob]
	}
	return string(answers)
}

func TestOrder(t *testing.T) {
	tests := []struct{ name, times, want string }{
		{"one job", "1000r 1002w 2000r 2002w", "++++"},
		{"two jobs", "1003r 1005w 2003r 2005w 1003r 1004w 2003r", "++++*++"},
		{"another direction", "1000r 2000r 3000r 1000w 2000w", "+++*+"},
		{"the next job is a little later", "1000r 2000r 3000r 1400r 2400r", "+++*+"},
		{"the next job is much later", "1000r 2000r 3000r 1800r 2800r 3800r", "+++-*+"},
		{"jobs since 1970", "1700000001000r 1700000002000r 1700000003000r 1700000001200r", "+++*"},
		{"jobs since 1970 of one row", "1700000001000r 1700000003000w 1700000001000r", "++*"},
		{"another direction begins a little sooner", "1700000010500r 1700000010000w 1700000020000r 1700000020000w 1700000010100w", "++++*"},
		{"duplicates after a stall", "1000r 2000r 6137r 6137r 6138w 6138r 6138w 7000r", "++++++++"},
		{"directions overtake", "1000r 1001w 2001w 2000r 3000r", "+++++"},
		{"one too early", "1000r 2000r 3000r 4000r 2500r 5000r", "++++-+"},
		{"one too late", "1000r 2000r 9000r 3000r 4000r 5000r", "+++-++"},
		{"first one too late", "9000r 8000r 8500r 9500r", "+-++"},
		{"one far too late", "1000r 2000r 4000000000000r 3000r", "++-+"},
		{"first one far too early", "7r 1700000001000r 1700000002000r 1700000003000r", "+-++"},
		{"beyond all dates", "253402300800000r 1000r", "-+"},
	}
	for _, tt := range tests {
		if got := orderOf(t, strings.Fields(tt.times)); got != tt.want {
			t.Errorf("%s: %s: got %s, want %s", tt.name, tt.times, got, tt.want)
		}
	}
}

// TestOrderOfJobs joins the logs of jobs as per_job_logs=0 does: each begins where it
// should, and no row is lost.
func TestOrderOfJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := int64(rapid.SampledFrom([]int{100, 500, 1000, 10000}).Draw(t, "interval"))
		base := rapid.SampledFrom([]int64{0, 0, 1700000000000}).Draw(t, "base")
		var times []string
		want := ""
		for job := range rapid.IntRange(1, 5).Draw(t, "jobs") {
			rows := rapid.Int64Range(2, 20).Draw(t, "rows")
			for row := range rows {
				for _, d := range "rw" {
					times = append(times, fmt.Sprintf("%d%c", base+(row+1)*interval+rapid.Int64Range(0, interval/20).Draw(t, "late"), d))
				}
			}
			want += map[bool]string{false: "+", true: "*"}[job > 0] + strings.Repeat("+", int(2*rows)-1)
		}
		if got := orderOf(t, times); got != want {
			t.Fatalf("%v: got %s, want %s", times, got, want)
		}
	})
}
