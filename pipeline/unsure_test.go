package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline"
)

// TestUnsureWindows: windows that are cut across rows whose rate changes are estimates, and what makes them more certain
// is true. Rows of a second are all on the edges of windows, or 500 ms beside them.
func TestUnsureWindows(t *testing.T) {
	for _, c := range []struct {
		name string
		jobs [][]int // the requests in the rows of each
		late []int   // when the rows of each begin, in ms after it
		opt  pipeline.Options
		want string
	}{
		{"steady", [][]int{{400, 400, 400, 400}, {400, 400, 400, 400}}, []int{0, 500}, pipeline.Options{}, ""},
		{"one hangs at its start", [][]int{{400, 400, 400, 400, 400, 400, 400, 400}, {1000, 400, 400, 400, 400, 400}}, []int{0, 1500}, pipeline.Options{},
			"2 windows are estimates, the first at 1.0 s: rows of its logs cross their edges, and the rate changes within such a row, so up to 33 % of " +
				"a window's requests may belong to the window beside it; a longer --interval, such as 7s"},
		{"longer windows", [][]int{{400, 400, 400, 400, 400, 400, 400, 400}, {1000, 400, 400, 400, 400, 400}}, []int{0, 1500}, pipeline.Options{Window: 7e9}, ""},
		{"windows of other lengths than rows", [][]int{{400, 400, 100, 400, 400, 400}}, []int{0}, pipeline.Options{Window: 1300e6}, "--interval, such as "},
		{"the same, steady", [][]int{{400, 400, 400, 400, 400, 400}}, []int{0}, pipeline.Options{Window: 1300e6}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, rows := range c.jobs {
				var log strings.Builder
				for k, n := range rows {
					at := c.late[i] + (k+1)*1000
					fmt.Fprintf(&log, "%d, 0, 4096%s, %d%s\n", at, strings.Repeat(", 0", 600), n, strings.Repeat(", 0", hist.Fio3(0).Len()-601))
				}
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("t_clat_hist.%d.log", i+1)), []byte(log.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c.opt.Alone = true
			_, res := readRun(t, dir, "", c.opt)
			got := ""
			for _, err := range res.Notes {
				if strings.Contains(err.Error(), "are estimates") {
					got += err.Error()
				}
			}
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", res.Notes, c.want)
			}
		})
	}
}
