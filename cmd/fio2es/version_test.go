package main

import (
	"runtime/debug"
	"testing"
)

func TestBuild(t *testing.T) {
	vcs := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-11-22T14:24:07Z"},
	}
	for _, c := range []struct {
		name   string
		linked build
		info   debug.BuildInfo
		want   string
	}{
		{"a release", build{version: "v1.2.3"}, debug.BuildInfo{Settings: vcs}, "v1.2.3 (0123456789ab, 2026-11-22T14:24:07Z)"},
		{"without a repository", build{"v1.2.3", "fedcba9876543210", "2026-11-20T00:00:00Z"}, debug.BuildInfo{}, "v1.2.3 (fedcba987654, 2026-11-20T00:00:00Z)"},
		{"go install", build{}, debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3"},
		{"go build", build{}, debug.BuildInfo{Main: debug.Module{Version: "v1.2.4-0.20261122142407-0123456789ab"}, Settings: vcs},
			"v1.2.4-0.20261122142407-0123456789ab (0123456789ab, 2026-11-22T14:24:07Z)"},
		{"no version", build{}, debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: vcs}, "devel-0123456789ab (0123456789ab, 2026-11-22T14:24:07Z)"},
		{"no date", build{commit: "0123"}, debug.BuildInfo{}, "devel-0123 (0123)"},
		{"nothing", build{}, debug.BuildInfo{}, "devel"},
	} {
		b := c.linked
		if b.complete(&c.info); b.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, b, c.want)
		}
	}
}
