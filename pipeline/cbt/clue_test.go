package cbt

import (
	"fmt"
	"testing"
)

// A report with the prefix of logs in its own folder is not compared with those of that
// prefix in all other folders: thousands of runs have the same.
func TestNamedByOwnFolder(t *testing.T) {
	dirs := map[string][]*draft{}
	for i := range 50 {
		dirs[fmt.Sprintf("/lab/%d", i)] = []*draft{{}}
	}
	x, own := logIndex{byPrefix: map[string]map[string][]*draft{"s": dirs}}, dirs["/lab/7"][0]
	of := &claims{jobs: []jobClaims{{name: "a", prefixes: []string{"s"}}, {name: "b", prefixes: []string{"s"}}}}
	if got := x.namedBy(of, "/lab/7"); len(got) != 1 || got[own] != strong {
		t.Errorf("%d runs are named, want that of the report's folder: %v", len(got), got)
	}
	if got := x.namedBy(of, "/lab/elsewhere"); len(got) != 50 || got[own] != weak {
		t.Errorf("%d runs are named from a folder nearby, want all: %v", len(got), got)
	}
}
