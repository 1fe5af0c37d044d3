package elastic_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// TestRunsWithoutLight: lists also have the runs whose field for lists is missing or unreadable, in the right order.
func TestRunsWithoutLight(t *testing.T) {
	f := newFake(t)
	s := f.store("fio").Hurry(1 << 20)
	historytest.FinishABC(t, s)
	var runs []*mapping.Run
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		runs = append(runs, historytest.NewRun(name, "1"))
	}
	var body strings.Builder
	for i, document := range map[int][]byte{1: mapping.WithLight(runs[1].AppendJSON(nil), []byte("not packed")), 3: runs[3].AppendJSON(nil), 4: runs[4].AppendJSON(nil)} {
		fmt.Fprintf(&body, "{\"index\":{\"_index\":\"fio-runs\",\"_id\":%q}}\n%s\n", runs[i].ID(), document)
	}
	// all started at the same time
	slices.SortFunc(runs, func(a, b *mapping.Run) int { return strings.Compare(a.Run.ID, b.Run.ID) })
	var want []*mapping.Run
	for _, run := range runs {
		want = append(want, run.Light())
	}
	for _, c := range [][2]string{{"/_bulk", body.String()}, {"/fio-runs/_refresh", ""}} {
		if _, err := f.call(t.Context(), http.MethodPost, c[0], c[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		filter history.RunFilter
		want   []*mapping.Run
	}{{history.RunFilter{Light: true}, want}, {history.RunFilter{Light: true, Where: onConfig{}}, want}, {history.RunFilter{Light: true, Limit: 2}, want[:2]}} {
		var got []*mapping.Run
		for run, err := range s.Runs(t.Context(), c.filter) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, run)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.filter, diff)
		}
	}
}

// onConfig is a condition that brief run documents cannot decide.
type onConfig struct{}

func (onConfig) Matches(run *mapping.Run) bool { return len(run.Config) > 0 }
