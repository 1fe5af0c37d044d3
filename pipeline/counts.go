package pipeline

import (
	"sync/atomic"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// counts are requests by direction. They may be counted by several goroutines.
type counts [fiolog.Directions]atomic.Int64

func (c *counts) add(d fiolog.Direction, n int64) { c[d].Add(n) }

func (c *counts) total() int64 {
	sum := int64(0)
	for d := range c {
		sum += c[d].Load()
	}
	return sum
}
