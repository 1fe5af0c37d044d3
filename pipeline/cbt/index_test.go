package cbt

import "testing"

// TestNames: which logs the value of an option may mean, by where the report and the logs lie.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		value, from, at, prefix string
		want                    strength
	}{
		{"x", "/lab", "/lab", "x", strong},
		{"logs/x", "/lab", "/lab/logs", "x", strong},
		{"logs/x", "/lab/reports", "/lab/logs", "x", strong},
		{"../logs/x", "/lab/reports", "/lab/logs", "x", strong},
		{"logs/x", "/lab", "/lab/other", "x", noMatch},
		{"/home/u/logs/x", "/lab", "/lab/logs", "x", strong},
		{"/home/u/logs/x", "/lab", "/other/logs", "x", noMatch},
		{"/mnt/logs/x", "/lab", "/mnt/logs", "x", strong},
		{"x", "/lab", "/lab/logs", "x", weak},
		{"x", "/lab/a/b", "/lab", "x", noMatch},
	} {
		if got := names(tt.value, tt.from, tt.at, tt.prefix); got != tt.want {
			t.Errorf("%s in %s, logs in %s: %d, want %d", tt.value, tt.from, tt.at, got, tt.want)
		}
	}
}
