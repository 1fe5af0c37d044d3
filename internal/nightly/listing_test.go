package nightly

import (
	"testing"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// TestUnreadKey: if a file or folder of a run could not be opened, the run is read again when it can be.
func TestUnreadKey(t *testing.T) {
	l := &listing{Listing: &source.Listing{}}
	if locked, open := l.runKey(&cbt.Run{Output: cbt.Output{Unread: "run/host2"}}, ""), l.runKey(&cbt.Run{}, ""); locked == open {
		t.Error("the run stays incomplete")
	}
}
