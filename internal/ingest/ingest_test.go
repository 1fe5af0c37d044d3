package ingest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// TestRefuse: an error about one run's documents does not affect other runs. An error of the store ends all runs.
func TestRefuse(t *testing.T) {
	run := &assign.Run{Archive: "lab", Path: "a/out"}
	err := refuse(run, fmt.Errorf("check run: %w", mapping.ErrTime))
	if !errors.As(err, new(refusedError)) || !strings.HasPrefix(err.Error(), "lab:"+run.Name()+" is not stored") {
		t.Error(err)
	}
	for _, err := range []error{nil, io.ErrShortWrite} {
		if got := refuse(run, err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}
