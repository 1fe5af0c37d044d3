package pipeline_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/align"
)

// TestGrid: windows of reports that fio 3.33 wrote when it got SIGUSR1 at whole seconds begin and end with these, while fio runs and
// afterwards. testdata/grid has the reports of a job that reads 100 times a second and one that writes as often:
//
//	fio2es run --quiet -- fio --ioengine=null --size=1g --rate_iops=100 --time_based --runtime=4 --name=a --rw=randread --name=b --rw=randwrite
//
// In stopped.grid1s.json all processes of fio were stopped (SIGSTOP) for 3 s.
func TestGrid(t *testing.T) {
	for _, c := range []struct {
		name        string
		read, write string // the seconds at which windows end, and the requests in them
		note        string
	}{
		{"even", "20.00 101, 21.00 101, 22.00 100, 23.00 98", "20.00 101, 21.00 100, 22.00 100, 23.00 99", "periodic reports are used"},
		{"stopped", "23.00 24, 24.00 100, 25.00 100, 26.00 104, 29.00 337, 30.00 59, 30.77 76",
			"23.00 24, 24.00 100, 25.00 100, 26.00 104, 29.00 337, 30.00 59, 30.77 76", "up to 3.0 s after the one before"},
	} {
		reports := reportsIn(t, filepath.Join("testdata", "grid", c.name+".grid1s.json.gz"))
		for kind, read := range map[string]func(t *testing.T) []*mapping.Interval{
			"live": func(t *testing.T) []*mapping.Interval { return followReports(t, c.name+".grid1s.json", reports) },
			"stored": func(t *testing.T) []*mapping.Interval {
				file := filepath.Join(t.TempDir(), c.name+".grid1s.json")
				if err := os.WriteFile(file, bytes.Join(reports, nil), 0o644); err != nil {
					t.Fatal(err)
				}
				docs, result := readRun(t, file, "", pipeline.Options{Weighting: align.Completion})
				if notes := fmt.Sprint(result.Notes); !strings.Contains(notes, c.note) {
					t.Errorf("notes %s, want %s", notes, c.note)
				}
				return docs
			},
		} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				of := map[string][]string{}
				for _, d := range read(t) {
					if d.Level == mapping.Cluster {
						of[d.Fio.Direction] = append(of[d.Fio.Direction], fmt.Sprintf("%s %d", d.Window.End.Format("05.00"), d.Requests.Completed))
					}
				}
				if diff := cmp.Diff(map[string][]string{"read": strings.Split(c.read, ", "), "write": strings.Split(c.write, ", ")}, of); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
