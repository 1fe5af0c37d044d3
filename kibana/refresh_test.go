package kibana_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// TestDrawRefresh: where Kibana restores the choices of users after a refresh, the drawing is that of the new answers.
// Kibana restores all signals, and Vega does not compute a restored one again until what it depends on changes.
func TestDrawRefresh(t *testing.T) {
	browser := browser(t)
	b := bundle(t, kibana.Options{})
	var panels []string
	var jobs []Job
	for _, panel := range slices.Sorted(maps.Keys(b.Specs)) {
		if !strings.Contains(string(b.Specs[panel]), `"restoreSignalValuesOnRefresh": true`) {
			continue
		}
		fresh := job(t, b, panel, kibanatest.Full)
		refreshed := fresh
		refreshed.Before = job(t, b, panel, kibanatest.Empty).Answers
		panels, jobs = append(panels, panel), append(jobs, fresh, refreshed)
	}
	pictures, err := browser.Draw(t.Context(), jobs...)
	if err != nil {
		t.Fatal(err)
	}
	if len(panels) == 0 {
		t.Error("no panel keeps choices")
	}
	for i, panel := range panels {
		if fresh, refreshed := pictures[2*i], pictures[2*i+1]; fresh.SVG != refreshed.SVG {
			t.Errorf("%s: %q after a refresh, want %q", panel, refreshed.Texts(), fresh.Texts())
		}
	}
}
