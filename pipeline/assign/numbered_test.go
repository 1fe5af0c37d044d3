package assign

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// TestNumberedThrough: jobs of one execution have the numbers 1 to n on each host, and no
// number twice.
func TestNumberedThrough(t *testing.T) {
	tests := []struct {
		runs     string // logs of each as HOST.JOB
		entries  int
		through  bool
		collides bool
	}{
		{"a.1 a.2|a.3", 1, true, false},
		{"a.1 a.2|a.3", 3, false, false},
		{"a.1|a.3", 1, false, false},
		{"a.1 b.1|a.2 b.2", 1, true, false},
		{"a.1 b.1|a.2", 1, false, false},
		{"a.0|a.1 a.2", 1, false, false},
		{"a.1|a.1 a.2", 1, true, true},
		{"a.0|a.0", 1, false, false},
	}
	for _, tt := range tests {
		var runs []*Run
		for i, logs := range strings.Split(tt.runs, "|") {
			r := &Run{}
			for _, text := range strings.Fields(logs) {
				l := Log{Kind: fiolog.ClatHist, Prefix: string(rune('x' + i)), File: evidence.Of(&source.File{})}
				if _, err := fmt.Sscanf(strings.Replace(text, ".", " ", 1), "%s %d", &l.Host, &l.Job); err != nil {
					t.Fatal(err)
				}
				r.Logs = append(r.Logs, l)
			}
			runs = append(runs, r)
		}
		if got := countsThrough(runs, tt.entries); got != tt.through {
			t.Errorf("%s, %d entries: numbered through: %v", tt.runs, tt.entries, got)
		}
		if got := collision(runs); (got != "") != tt.collides {
			t.Errorf("%s: collision %q", tt.runs, got)
		}
	}
}
