package cbt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestCopies: logs are copies if kind, number and content are the same. Only what may be the
// same is read, and to its end only where the beginnings are.
func TestCopies(t *testing.T) {
	long := strings.Repeat("1000, 0, 4096, 123\n", beginLen/10)
	files := tree{
		"a": logText(1), "b": logText(1), "c": logText(1), "job2": logText(1), "bw": logText(1), "other": logText(2),
		"long1": long, "long2": long, "end": long[:len(long)-1] + "4", "short1": "1, 2, 3, 4\n", "short2": "1, 2, 3, 4\n", "empty1": "", "empty2": "", "alone": "x",
	}
	opt := Options()
	opt.Want = func(string) bool { return true }
	var logs []Log
	for _, f := range scanWith(t, opt, files.write(t, "arch")) {
		l := Log{Kind: fiolog.ClatHist, Job: 1, File: f}
		switch f.Path {
		case "job2":
			l.Job = 2
		case "bw":
			l.Kind = fiolog.BW
		}
		logs = append(logs, l)
	}
	c := newComparer()
	got := map[string]string{}
	for f, original := range c.copies(logs, func(Log, Log) bool { return true }) {
		got[f.Path] = original.Path
	}
	if diff := cmp.Diff(map[string]string{"b": "a", "c": "a", "long2": "long1"}, got); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}
	read := map[string]bool{}
	for f, x := range c.sums {
		read[f.Path] = x.isRead
	}
	want := map[string]bool{"a": true, "b": true, "c": true, "other": false, "long1": true, "long2": true, "end": true, "short1": true, "short2": true}
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("files that were read, and to their end (-want +got):\n%s", diff)
	}
}
