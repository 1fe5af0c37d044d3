package history

import (
	"runtime"
	"sync"

	"github.com/fio2es/fio2es/mapping"
)

// Packed is a run document before and after it is decoded.
type Packed struct {
	ID   string
	Blob []byte

	Run *mapping.Run
	Err error // why the document cannot be decoded
}

// Decoder decodes a run document. It does not keep the bytes.
type Decoder func([]byte) (*mapping.Run, error)

// All decodes documents in place, on all processors.
func (decode Decoder) All(batch []*Packed) {
	const few = 16 // fewest documents for a goroutine
	workers := max(1, min(runtime.GOMAXPROCS(0), len(batch)/few))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for _, p := range batch[len(batch)*w/workers : len(batch)*(w+1)/workers] {
				p.Run, p.Err = decode(p.Blob)
				if p.Err != nil {
					p.Run = nil
				}
				p.Blob = nil
			}
		})
	}
	wait.Wait()
}
