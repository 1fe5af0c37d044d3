package main

import (
	"runtime/debug"
	"strings"
)

// Set by the linker if the build knows more than Go. "make build" sets the release that git describes. The
// Dockerfile sets all three, because it has no repository.
var release, commit, date string

// build says from what the program was built. Unknown fields are empty.
type build struct {
	version string // the release, otherwise the module's version, otherwise devel with the commit
	commit  string // as much of it as people need
	date    string // date of the commit, as RFC 3339
}

func thisBuild() build {
	b := build{release, commit, date}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.complete(info)
	}
	return b
}

// complete adds what Go knows about a build: in a repository the commit, and with "go install" only the module's
// version.
func (b *build) complete(info *debug.BuildInfo) {
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.commit == "":
			b.commit = s.Value
		case s.Key == "vcs.time" && b.date == "":
			b.date = s.Value
		}
	}
	b.commit = b.commit[:min(12, len(b.commit))]
	if v := info.Main.Version; b.version == "" && v != "(devel)" {
		b.version = v
	}
	if b.version == "" {
		b.version = strings.TrimSuffix("devel-"+b.commit, "-")
	}
}

func (b build) String() string {
	text := b.version
	if b.commit != "" {
		text += " (" + strings.TrimSuffix(b.commit+", "+b.date, ", ") + ")"
	}
	return text
}
