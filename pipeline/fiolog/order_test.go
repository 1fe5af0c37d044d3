package fiolog

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOrder(t *testing.T) {
	// Times with r, w or t; the answers: "+" good, "*" a new job, "-" left out.
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
		t.Run(tt.name, func(t *testing.T) {
			var o order
			got := ""
			for _, s := range strings.Fields(tt.times) {
				var at int64
				var d byte
				if _, err := fmt.Sscanf(s, "%d%c", &at, &d); err != nil {
					t.Fatal(err)
				}
				newJob, want := o.check(at, Direction(strings.IndexByte("rwt", d)))
				switch {
				case want != "":
					got += "-"
				case newJob:
					got += "*"
				default:
					got += "+"
				}
			}
			if got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.times, got, tt.want)
			}
		})
	}
}

// TestOrderOfJobs joins the logs of jobs as per_job_logs=0 does: each begins where it
// should, and no row is lost.
func TestOrderOfJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o order
		interval := int64(rapid.SampledFrom([]int{100, 500, 1000, 10000}).Draw(t, "interval"))
		base := rapid.SampledFrom([]int64{0, 0, 1700000000000}).Draw(t, "base")
		jobs := rapid.IntRange(1, 5).Draw(t, "jobs")
		for job := range jobs {
			rows := rapid.Int64Range(2, 20).Draw(t, "rows")
			for row := range rows {
				for d := range Direction(2) {
					at := base + (row+1)*interval + rapid.Int64Range(0, interval/20).Draw(t, "late")
					newJob, want := o.check(at, d)
					if want != "" || newJob != (job > 0 && row == 0 && d == 0) {
						t.Fatalf("job %d, row %d, %d %s: new job %t, want %q", job, row, at, d, newJob, want)
					}
				}
			}
		}
	})
}
