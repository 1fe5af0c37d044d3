package grafana

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// TestNative: Prometheus reads the native histograms of "fio2es export --as native --windows", and finds them valid.
func TestNative(t *testing.T) {
	text, err := os.ReadFile("../../internal/export/testdata/run.native.golden")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]uint64{} // of the last point of each direction
	parser := textparse.NewProtobufParser(text, false, labels.NewSymbolTable())
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if entry != textparse.EntryHistogram {
			continue
		}
		_, at, h, _ := parser.Histogram()
		if h == nil || at == nil || h.Validate() != nil {
			t.Fatalf("%v at %v", h, at)
		}
		var l labels.Labels
		parser.Metric(&l)
		counts[l.Get("direction")] = h.Count
	}
	if counts["read"] != 14 || counts["write"] != 4 {
		t.Errorf("%v requests, want 14 reads and 4 writes", counts)
	}
}
