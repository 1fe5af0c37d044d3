package main

import (
	"time"

	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// progressOf returns a function that shows how many runs are done, and their share by the size of their files.
func progressOf(p *term.Progress, runs []*cbt.Run) func(done int) {
	// work before each run and of all runs, in bytes, with some bytes for each file
	began, work := time.Now(), []int64{0}
	for i, r := range runs {
		work = append(work, work[i]+size(r)+int64(len(r.Files()))*16<<10)
	}
	return func(done int) {
		share := float64(work[done]) / float64(max(work[len(runs)], 1))
		left := ""
		if elapsed := time.Since(began); share > 0.01 && elapsed > time.Second {
			left = ", " + unit.Elapsed(time.Duration(float64(elapsed)*(1-share)/share)) + " left"
		}
		p.Show("%s %3.0f %%  run %d of %d%s", term.Bar(share, 24), share*100, done+1, len(runs), left)
	}
}
