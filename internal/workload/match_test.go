package workload

import (
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

// TestMatch: runs are matched by their settings. A run on both sides is not compared with itself.
func TestMatch(t *testing.T) {
	run := func(id string, depth int64) *mapping.Run {
		r := &mapping.Run{Run: mapping.RunInfo{ID: id}}
		r.CBT.IODepth = depth
		return r
	}
	both := run("c", 2)
	var got []string
	for _, m := range Match([]*mapping.Run{run("a", 1), run("b", 2), both}, []*mapping.Run{both, run("d", 3), run("", 2)}) {
		text := m.Title + ":"
		for _, r := range m.Base {
			text += " " + r.Run.ID
		}
		text += " |"
		for _, r := range m.Other {
			text += " " + r.Run.ID
		}
		got = append(got, text)
	}
	if text := strings.Join(got, "; "); text != "qd1: a |; qd2: b |  c; qd3: | d" {
		t.Errorf("%s", text)
	}
}
