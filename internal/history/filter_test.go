package history_test

import (
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// TestSizeInText: the filter finds a block size as titles of runs write it.
func TestSizeInText(t *testing.T) {
	for text, bytes := range map[string]int64{"4K": 4096, "64kib": 64 << 10, "1.5K": 1536, "1m": 1 << 20, "512b": 512} {
		for _, size := range []int64{0, 4096, 64 << 10, 1536, 1 << 20, 512} {
			f := history.RunFilter{Text: text}
			if got := f.Matches(&mapping.Run{CBT: mapping.CBT{OpSize: size}}); got != (size == bytes) {
				t.Errorf("%s in the title of a run with requests of %d bytes: %v", text, size, got)
			}
		}
	}
}
