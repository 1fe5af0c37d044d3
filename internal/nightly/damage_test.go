package nightly

import (
	"log/slog"
	"testing"
)

// TestMended: a version is stored again and no longer lacks anything. It has no damage after the state is saved,
// although saving takes over the damage of the saved state.
func TestMended(t *testing.T) {
	d := damages{log: slog.New(slog.DiscardHandler), state: newState("h")}
	version := &entry{ID: "a", Version: "1"}
	d.setLacks(version, []string{"cut"})
	saved := newState("h")
	saved.add(d.state)
	d.setLacks(version, nil)
	d.state.add(saved)
	if d.repeatLack(version); len(d.all) > 0 {
		t.Errorf("damage %q", d.all)
	}
}
