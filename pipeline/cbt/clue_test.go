package cbt

import (
	"fmt"
	"testing"
)

// A report with the prefix of logs in its own folder is not compared with those of that
// prefix in all other folders: thousands of runs have the same.
func TestNamedByOwnFolder(t *testing.T) {
	s := newSorter(t.Context())
	dirs := map[string][]*Run{}
	for i := range 50 {
		r := &Run{}
		s.all = append(s.all, r)
		dirs[fmt.Sprintf("/lab/%d", i)] = []*Run{r}
	}
	s.found.byPrefix = map[string]map[string][]*Run{"s": dirs}
	of := &claims{jobs: []jobClaims{{name: "a", prefixes: []string{"s"}}, {name: "b", prefixes: []string{"s"}}}}
	if got := s.namedBy(of, "/lab/7"); len(got) != 1 || got[s.all[7]] != strong {
		t.Errorf("%d runs are named, want that of the report's folder: %v", len(got), got)
	}
	if got := s.namedBy(of, "/lab/elsewhere"); len(got) != 50 || got[s.all[7]] != weak {
		t.Errorf("%d runs are named from a folder nearby, want all: %v", len(got), got)
	}
}
