package assign

import (
	"fmt"
	"path"
	"testing"

	"github.com/fio2es/fio2es/pipeline/evidence"
)

// TestNamedBy: which logs the value of an option may mean, by where the report and the logs lie.
func TestNamedBy(t *testing.T) {
	const surely, maybe, not = "surely", "maybe", "not"
	for _, tt := range []struct{ value, from, at, want string }{
		{"x", "/lab", "/lab", surely},
		{"logs/x", "/lab", "/lab/logs", surely},
		{"logs/x", "/lab/reports", "/lab/logs", surely},
		{"../logs/x", "/lab/reports", "/lab/logs", surely},
		{"logs/x", "/lab", "/lab/other", not},
		{"/home/u/logs/x", "/lab", "/lab/logs", surely},
		{"/home/u/logs/x", "/lab", "/other/logs", not},
		{"/mnt/logs/x", "/lab", "/mnt/logs", surely},
		{"x", "/lab", "/lab/logs", maybe},
		{"x", "/lab/a/b", "/lab", not},
	} {
		x := index{byPrefix: map[string]map[string][]*Run{path.Base(tt.value): {tt.at: {{}}}}}
		is, may := x.namedBy(&evidence.Claims{Values: map[string]bool{tt.value: true}}, tt.from)
		got := map[[2]int]string{{1, 0}: surely, {0, 1}: maybe, {0, 0}: not}[[2]int{len(is), len(may)}]
		if got != tt.want {
			t.Errorf("%s in %s, logs in %s: %q, want %q", tt.value, tt.from, tt.at, got, tt.want)
		}
	}
}

// A report with the prefix of logs in its own folder is not compared with those of that
// prefix in all other folders: thousands of runs have the same.
func TestNamedByOwnFolder(t *testing.T) {
	dirs := map[string][]*Run{}
	for i := range 50 {
		dirs[fmt.Sprintf("/lab/%d", i)] = []*Run{{}}
	}
	x, own := index{byPrefix: map[string]map[string][]*Run{"s": dirs}}, dirs["/lab/7"][0]
	of := &evidence.Claims{Values: map[string]bool{"s": true}}
	if surely, maybe := x.namedBy(of, "/lab/7"); len(maybe) > 0 || len(surely) != 1 || surely[0] != own {
		t.Errorf("%d and %d runs are named, want that of the report's folder", len(surely), len(maybe))
	}
	if surely, maybe := x.namedBy(of, "/lab/elsewhere"); len(maybe) != 50 || len(surely) > 0 {
		t.Errorf("%d and %d runs are named from a folder nearby, want all, but not surely", len(surely), len(maybe))
	}
}
