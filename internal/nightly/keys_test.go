package nightly

import (
	"testing"

	"github.com/fio2es/fio2es/pipeline/cbt"
)

// TestUnreadKey: if a file or folder of a run could not be opened, the run is read again when it can be.
func TestUnreadKey(t *testing.T) {
	n := &Night{files: map[string]string{}, keys: map[*cbt.Run]string{}}
	if locked, open := n.key(&cbt.Run{Output: cbt.Output{Unread: "run/host2"}}), n.key(&cbt.Run{}); locked == open {
		t.Error("the run stays incomplete")
	}
}
