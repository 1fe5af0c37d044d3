package kibana_test

import (
	"encoding/json"
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
		fresh.Signals = otherChoices(t, b.Specs[panel])
		refreshed := fresh
		refreshed.Before = job(t, b, panel, kibanatest.Empty).Answers
		panels, jobs = append(panels, panel), append(jobs, fresh, refreshed)
	}
	pictures := browser.draw(t, jobs...)
	if len(panels) < 5 {
		t.Errorf("only %q keep choices", panels)
	}
	for i, panel := range panels {
		if marks(pictures[2*i].SVG) < 2 {
			t.Errorf("%s: nothing is drawn", panel)
		}
		if fresh, refreshed := pictures[2*i], pictures[2*i+1]; fresh.SVG != refreshed.SVG {
			t.Errorf("%s: %q after a refresh, want %q", panel, refreshed.Texts(), fresh.Texts())
		}
	}
}

// otherChoices returns an option that is not the default of each choice that a panel has. No two are equal.
func otherChoices(t *testing.T, spec []byte) map[string]any {
	t.Helper()
	var s struct {
		Signals []struct {
			Name string
			Bind struct{ Options []any }
		}
	}
	if err := json.Unmarshal(spec, &s); err != nil {
		t.Fatal(err)
	}
	choices := map[string]any{}
	for _, signal := range s.Signals {
		if options := signal.Bind.Options; len(options) > 0 {
			choice := options[1]
			for _, other := range choices {
				if choice == other {
					choice = options[2]
				}
			}
			choices[signal.Name] = choice
		}
	}
	return choices
}
