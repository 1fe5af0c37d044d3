package query

import (
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// TestTitleIsFound: the title of a run, as lists show it, finds the run. A size or a depth in it is a separate word.
func TestTitleIsFound(t *testing.T) {
	t.Parallel()
	made := func(name, benchmark, workload string, size int64, depth int64) *mapping.Run {
		return &mapping.Run{
			Run: mapping.RunInfo{ID: "4f1d2c", Archive: "nightly.tar.gz", Name: name},
			CBT: mapping.CBT{Benchmark: benchmark, Workload: workload, Mode: "randwrite", OpSize: size, IODepth: depth},
		}
	}
	for _, run := range []*mapping.Run{
		made("results/00010000/id-00002710/x", "librbdfio", "4krandrw", 65536, 1),
		made("1/id-7c1f03ab/osd_ra-4096/op_size-4096", "radosbench", "", 4096, 16),
		made("0/id-7c/x/y", "pbench-fio", "", 512, 4),
		made("out", "", "", 0, 0),
	} {
		title := facts.Title(run)
		if f := (history.RunFilter{Text: title}); !f.Matches(run) {
			t.Errorf("%q does not find its run", title)
		}
	}
	sixteen := made("out", "", "", 65536, 16)
	for text, want := range map[string]bool{
		"64k qd16": true, "64KiB": true, "64kib randwrite": true, "4k": false, "4K qd16": false, "64K qd1": false, "qd": false,
	} {
		if f := (history.RunFilter{Text: text}); f.Matches(sixteen) != want {
			t.Errorf("%q of %q: %v", text, facts.Title(sixteen), !want)
		}
	}
}

// TestNothingFound: if no run matches, the error lists what is nearest: words that runs have, names with the same
// beginning, and labels with nearly the same name.
func TestNothingFound(t *testing.T) {
	t.Parallel()
	run := &mapping.Run{
		Run: mapping.RunInfo{ID: "4f1d2c", Name: "out", Archive: "nightly.tar.gz", Labels: map[string]string{"release": "reef", "my rack": "7"}},
		CBT: mapping.CBT{Mode: "randwrite", OpSize: 4096, IODepth: 16},
	}
	condition := func(text string) history.Condition {
		c, err := where.Parse(text, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		filter history.RunFilter
		want   string
	}{
		{history.RunFilter{Text: "4K qd4"}, "'4K' 1 run|'qd4' no run|nearest 4f1d2c (nightly.tar.gz:out randwrite 4K qd16, -): not 'qd4'"},
		{history.RunFilter{Text: "randwrte"}, "names nightly.tar.gz:out|labels my rack=7, release=reef|modes randwrite|nearest randwrite"},
		{history.RunFilter{Text: "zz"}, "names nightly.tar.gz:out|labels my rack=7, release=reef|modes randwrite"},
		{history.RunFilter{Where: condition("label.relase=reef")}, "label.relase=reef no run (none has label.relase: did you mean label.release?)"},
		{history.RunFilter{Where: condition("'label.my rak'=7")}, "'label.my rak'=7 no run (none has label.my rak: did you mean label.my rack?)"},
		{history.RunFilter{Where: condition("label.site=x")}, "label.site=x no run (none has label.site)"},
	} {
		contents := newContents(c.filter)
		contents.add(run)
		var lines []string
		for _, r := range contents.rows()[1:] { // without the first row, when the runs started
			lines = append(lines, r.name+" "+r.text)
		}
		if got := strings.Join(lines, "|"); got != c.want {
			t.Errorf("%+v:\n%s, want\n%s", c.filter, got, c.want)
		}
	}
}
