package follow

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/pipeline/source"
)

// TestProblems: a log that is being copied cannot be read yet. A problem is reported once, if it lasts or is there
// at the end.
func TestProblems(t *testing.T) {
	half := &source.Problem{Name: "a/out_clat_hist.1.log.gz", Err: errors.New("format not understood")}
	gone := &source.Problem{Name: "a/b", Err: fs.ErrNotExist}
	type look struct {
		at       time.Duration
		problems []*source.Problem
	}
	tests := []struct {
		name  string
		looks []look
		want  int // number of reports before the end
		end   int // number of reports including the end
	}{
		{"copied", []look{{0, []*source.Problem{half}}, {time.Second, []*source.Problem{half}}, {5 * time.Second, nil}}, 0, 0},
		{"stays", []look{{0, []*source.Problem{half}}, {2 * time.Second, []*source.Problem{half}}, {3 * time.Second, []*source.Problem{half}}}, 1, 1},
		{"comes again", []look{{0, []*source.Problem{half}}, {time.Second, nil}, {2 * time.Second, []*source.Problem{half}}}, 0, 1},
		{"gone", []look{{0, []*source.Problem{gone}}, {3 * time.Second, []*source.Problem{gone}}}, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var text bytes.Buffer
			p := &problems{log: slog.New(slog.NewTextHandler(&text, nil)), quiet: 2 * time.Second, reported: map[string]bool{}}
			lasting := false
			said := func() int { return strings.Count(text.String(), "format not understood") }
			for _, l := range tt.looks {
				lasting = p.report(l.problems, time.Unix(0, 0).Add(l.at)) || lasting
			}
			if said() != tt.want || lasting != (tt.want > 0) {
				t.Errorf("said %d times, left out %v, want %d", said(), lasting, tt.want)
			}
			if rest := p.reportRest(); said() != tt.end || (lasting || rest) != (tt.end > 0) {
				t.Errorf("said %d times at the end, left out %v, want %d", said(), lasting || rest, tt.end)
			}
		})
	}
}
