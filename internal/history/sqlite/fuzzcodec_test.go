package sqlite

import (
	"errors"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// FuzzUnpack: a damaged row yields an error that says so, or a document.
func FuzzUnpack(f *testing.F) {
	c, err := newCodec()
	if err != nil {
		f.Fatal(err)
	}
	run := c.pack((&mapping.Run{Run: mapping.RunInfo{ID: "a", Ingest: "1"}}).AppendJSON)
	f.Add(run)
	interval := &mapping.Interval{Run: mapping.RunRef{ID: "a", Ingest: "1"}}
	f.Add(c.packInterval(interval))
	// similar to the form before version 6
	f.Add(c.pack(interval.AppendCompact))
	f.Add(seal([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\x0f"))) // claims 4 GB
	f.Add(run[:len(run)/2])
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe4, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, blob []byte) {
		if r, err := c.unpackRun(blob); err == nil && (r.Run.ID == "" || r.Run.Ingest == "") || err != nil && !errors.Is(err, history.ErrDamaged) {
			t.Errorf("run %+v, %v", r, err)
		}
		if _, err := c.unpackInterval(blob); err != nil && !errors.Is(err, history.ErrDamaged) {
			t.Error(err)
		}
	})
}
