package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

// BenchmarkCount counts the documents of a run of realistic size. Each command that reads windows does this first.
func BenchmarkCount(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "h.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	docs := realistic(20_000)
	if err := s.Put(b.Context(), docs); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		counts, err := s.Count(b.Context(), []string{docs[0].Run.ID}, mapping.Host)
		if err != nil || counts[docs[0].Run.ID][docs[0].Run.Ingest].Host != len(docs) {
			b.Fatal(counts, err)
		}
	}
}
