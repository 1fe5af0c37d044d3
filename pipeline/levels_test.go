package pipeline

import (
	"slices"
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
)

// TestLevels: levels of windows and of documents have the same numbers.
func TestLevels(t *testing.T) {
	if got := levelsOf([]mapping.Level{mapping.Cluster, mapping.Host, mapping.Job, mapping.Section}); !slices.Equal(got, align.Levels[:]) {
		t.Errorf("%v, want %v", got, align.Levels)
	}
}
