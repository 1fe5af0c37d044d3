package sqlite

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/pack"
	"github.com/fio2es/fio2es/mapping"
)

// FuzzUnpack: a damaged row yields an error that says so, or a document.
func FuzzUnpack(f *testing.F) {
	run := pack.Document((&mapping.Run{Run: mapping.RunInfo{ID: "a", Ingest: "1"}}).AppendJSON)
	f.Add(run)
	interval := &mapping.Interval{Run: mapping.RunRef{ID: "a", Ingest: "1"}}
	f.Add(pack.Document(func(b []byte) []byte { return interval.AppendCompact(append(b, make([]byte, 9)...)) }))
	large := []byte("\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\x0f") // claims 4 GB
	binary.LittleEndian.PutUint64(large, xxhash.Sum64(large[8:]))
	f.Add(large)
	f.Add(run[:len(run)/2])
	s, err := Open(f.Context(), filepath.Join(f.TempDir(), "h.db"))
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	f.Fuzz(func(t *testing.T, blob []byte) {
		if r, err := pack.Run(blob); err == nil && (r.Run.ID == "" || r.Run.Ingest == "") || err != nil && !errors.Is(err, history.ErrDamaged) {
			t.Errorf("run %+v, %v", r, err)
		}
		read := commons{from: s.reads, known: map[commonKey]*mapping.Interval{{}: interval.Common()}}
		if _, err := read.interval(t.Context(), 0, blob); err != nil && !errors.Is(err, history.ErrDamaged) {
			t.Error(err)
		}
	})
}
