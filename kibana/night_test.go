package kibana_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// TestDrawNight: a row is a workload without its depth, with its best throughput in the latest archive and in the one before. Runs
// that only prepared volumes are in none.
func TestDrawNight(t *testing.T) {
	browser := browser(t)
	var runs []fields
	night := func(archive string, day int, faster float64) {
		for i, run := range sweep([]int{4096, 65536}, []int{1, 4, 16}, fields{"run.archive": archive}) {
			run["run.id"], run["run.start"] = fmt.Sprintf("%020x", 1000*day+i), fmt.Sprint(1_780_000_000_000+int64(day)*86_400_000+60_000*int64(i))
			run["all.iops"] = faster * run["all.iops"].(float64)
			runs = append(runs, run)
		}
	}
	night("third", 3, 0.5)
	night("second", 2, 1)
	night("first", 1, 9)
	prepares := sweep([]int{4096}, []int{64}, fields{"run.archive": "third"})[0]
	prepares["run.name"], prepares["all.iops"], prepares["run.id"] = "results/precondition", 1e9, "00"
	runs = append(runs, prepares)
	j := job(t, bundle(t, kibana.Options{}), "night-best", kibanatest.Full)
	j.Answers["answer"], j.Width, j.Height = answerOf(t, runs...), 1370, 300
	p := browser.draw(t, j)[0]
	savePicture(t, "night-best", p)
	texts := p.Texts()
	for _, want := range []string{"third", "second", "randread 4KiB", "3,571 @ 140 µs, I/O depth 1", "7,143 @ 140 µs, I/O depth 1", "−50 %", "+0 %"} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is not in %q", want, texts)
		}
	}
	if len(texts) != 5*3 || slices.Contains(texts, "first") { // two workloads below the headings
		t.Errorf("%q", texts)
	}
}
