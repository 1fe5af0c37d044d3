package main

import (
	"time"

	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// bar shows the progress of runs by the size of their files.
type bar struct {
	*term.Progress
	began time.Time
	work  []int64 // of the runs before each, and of all: some for each file, and its bytes
}

func newBar(p *term.Progress, runs []*cbt.Run) *bar {
	b := &bar{Progress: p, began: time.Now(), work: []int64{0}}
	for i, r := range runs {
		b.work = append(b.work, b.work[i]+size(r)+int64(len(r.Files()))*16<<10)
	}
	return b
}

// show shows how many runs are done.
func (b *bar) show(done int) {
	runs := len(b.work) - 1
	share := float64(b.work[done]) / float64(max(b.work[runs], 1))
	left := ""
	if elapsed := time.Since(b.began); share > 0.01 && elapsed > time.Second {
		left = ", " + unit.Elapsed(time.Duration(float64(elapsed)*(1-share)/share)) + " left"
	}
	b.Show("%s %3.0f %%  run %d of %d%s", term.Bar(share, 24), share*100, done+1, runs, left)
}
