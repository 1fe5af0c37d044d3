package config

import (
	"path/filepath"
	"testing"
)

// TestBaseFolder: one rule for all kinds of files on each system. A variable of XDG has precedence, unless it is a relative path.
func TestBaseFolder(t *testing.T) {
	t.Parallel()
	absolute := filepath.Join(t.TempDir(), "x")
	env := map[string]string{"AppData": "roaming", "LocalAppData": "local"}
	for _, c := range []struct{ system, config, data, state string }{
		{"linux", "h/.config", "h/.local/share", "h/.local/state"},
		{"freebsd", "h/.config", "h/.local/share", "h/.local/state"},
		{"darwin", "h/Library/Application Support", "h/Library/Application Support", "h/Library/Application Support"},
		{"windows", "roaming", "local", "local"},
	} {
		for kind, want := range map[string]string{"XDG_CONFIG_HOME": c.config, "XDG_DATA_HOME": c.data, "XDG_STATE_HOME": c.state} {
			for set, want := range map[string]string{"": want, "relative": want, absolute: absolute} {
				getenv := func(name string) string {
					if name == kind {
						return set
					}
					return env[name]
				}
				if got := filepath.ToSlash(baseFolder(c.system, kind, "h", getenv)); got != filepath.ToSlash(want) {
					t.Errorf("%s, %s=%s: %s, want %s", c.system, kind, set, got, want)
				}
			}
		}
	}
	if got := baseFolder("linux", "XDG_DATA_HOME", "", func(string) string { return "" }); got != "" {
		t.Errorf("without a home: %s", got)
	}
}
