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
	if surely, maybe := x.namedBy(of, "/lab/7"); len(maybe) > 0 || len(surely) != 1 || surely[0] != own {
		t.Errorf("%d and %d runs are named, want that of the report's folder", len(surely), len(maybe))
	}
	if surely, maybe := x.namedBy(of, "/lab/elsewhere"); len(maybe) != 50 || len(surely) > 0 {
		t.Errorf("%d and %d runs are named from a folder nearby, want all, but not surely", len(surely), len(maybe))
	}
}
