package mapping

import (
	"strings"
	"testing"
)

func TestState(t *testing.T) {
	for _, c := range []struct {
		run  Run
		want string
		bad  bool
	}{
		{Run{Run: RunInfo{Complete: true}}, "", false},
		{Run{Run: RunInfo{Ingest: LivePrefix + "1"}}, "live", false},
		{Run{NoWindows: "no logs"}, "incomplete, no windows", true},
		{Run{Run: RunInfo{Complete: true}, SLA: []Verdict{{Holds: true}, {}}}, "sla broken", true},
	} {
		if words, bad := c.run.State(); strings.Join(words, ", ") != c.want || bad != c.bad {
			t.Errorf("%q, %v, want %q", words, bad, c.want)
		}
	}
}
