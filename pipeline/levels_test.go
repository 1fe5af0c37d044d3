package pipeline_test

import (
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
)

// TestLevels: levels of windows and of documents have the same numbers.
func TestLevels(t *testing.T) {
	if got := [...]align.Level{align.Level(mapping.Cluster), align.Level(mapping.Host), align.Level(mapping.Job), align.Level(mapping.Section)}; got != align.Levels {
		t.Errorf("%v, want %v", got, align.Levels)
	}
}
