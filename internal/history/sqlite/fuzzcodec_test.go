package sqlite

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// FuzzUnpack: a damaged row yields an error that says so, or a document.
func FuzzUnpack(f *testing.F) {
	run := pack((&mapping.Run{Run: mapping.RunInfo{ID: "a", Ingest: "1"}}).AppendJSON)
	f.Add(run)
	interval := &mapping.Interval{Run: mapping.RunRef{ID: "a", Ingest: "1"}}
	f.Add(pack(interval.AppendCompact))
	large := []byte("\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\x0f") // claims 4 GB
	binary.LittleEndian.PutUint64(large, xxhash.Sum64(large[sumBytes:]))
	f.Add(large)
	f.Add(run[:len(run)/2])
	f.Fuzz(func(t *testing.T, blob []byte) {
		if r, err := unpackRun(blob); err == nil && (r.Run.ID == "" || r.Run.Ingest == "") || err != nil && !errors.Is(err, history.ErrDamaged) {
			t.Errorf("run %+v, %v", r, err)
		}
		if _, err := unpackInterval(blob); err != nil && !errors.Is(err, history.ErrDamaged) {
			t.Error(err)
		}
	})
}
