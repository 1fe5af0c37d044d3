package elastic_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
)

// TestRejected: a document that the cluster rejects for good makes its run fail, and no other.
func TestRejected(t *testing.T) {
	docs, other := historytest.Intervals("a", "1", 30), historytest.Intervals("b", "1", 30)
	for name, c := range map[string]struct {
		refuse func(index, id string) bool
		want   string
	}{
		"interval document": {func(_, id string) bool { return id == docs[11].ID() }, docs[11].ID()},
		"run document":      {func(_, id string) bool { return id == historytest.NewRun("a", "1").ID() }, "failed to parse"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.server.Refuse = func(index, id string, _ []byte) string {
					if c.refuse(index, id) {
						return "failed to parse field [latency.histogram] of type [histogram] <&> in document with id '" + id + "'"
					}
					return ""
				}
				err := w.stores("a", "1", docs...)
				if !errors.Is(err, history.ErrRejected) || !strings.Contains(err.Error(), "failed to parse") || !strings.Contains(err.Error(), c.want) {
					t.Error(err)
				}
				if n := len(w.server.Documents("fio-runs")); n != 0 {
					t.Error("the run's document is there")
				}
				w.put(other...)
				w.finish("b", "1") // other runs can be stored
			})
		})
	}
}
