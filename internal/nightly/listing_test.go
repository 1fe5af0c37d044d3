package nightly

import (
	"testing"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// TestUnreadKey: a run in whose folder something could not be opened is read again when that can be.
func TestUnreadKey(t *testing.T) {
	l := &listing{Listing: &source.Listing{}}
	if locked, open := l.runKey(&cbt.Run{Output: cbt.Output{Unread: "run/host2"}}, ""), l.runKey(&cbt.Run{}, ""); locked == open {
		t.Error("the run stays incomplete")
	}
}
