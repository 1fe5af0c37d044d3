package pipeline_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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
// In stopped.grid1s.json all processes of fio were stopped (SIGSTOP) for 3 s. A report that is later than two jobs explain has the counts
// of its own time, and shows when the jobs began none the less.
func TestGrid(t *testing.T) {
	for _, c := range []struct {
		name        string
		read, write string // the seconds at which windows end, and the requests in them
		note        string
		which, late int // a report and the ms by which it comes later
	}{
		{"even", "20.00 101, 21.00 101, 22.00 100, 23.00 98", "20.00 101, 21.00 100, 22.00 100, 23.00 99", "periodic reports are used", 0, 0},
		{"even", "20.00 101, 21.00 101, 22.00 100, 23.00 98", "20.00 101, 21.00 100, 22.00 100, 23.00 99", "periodic reports are used", 2, 55},
		{"even", "20.00 101, 21.31 101, 22.00 100, 23.00 98", "20.00 101, 21.31 100, 22.00 100, 23.00 99", "up to 1.3 s after the one before", 2, 300},
		{"even", "20.00 101, 21.71 101, 23.00 198", "20.00 101, 21.71 100, 23.00 199", "up to 1.7 s after the one before", 2, 700},
		{"even", "20.30 101, 21.00 101, 22.00 100, 23.00 98", "20.30 101, 21.00 100, 22.00 100, 23.00 99", "up to 1.3 s after the one before", 1, 300},
		{"stopped", "23.00 24, 24.00 100, 25.00 100, 26.00 104, 29.41 337, 30.00 59, 30.77 76",
			"23.00 24, 24.00 100, 25.00 100, 26.00 104, 29.41 337, 30.00 59, 30.77 76", "up to 3.4 s after the one before", 0, 0},
	} {
		reports := reportsIn(t, filepath.Join("testdata", "grid", c.name+".grid1s.json.gz"))
		reports[c.which] = later(reports[c.which], c.late)
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
			t.Run(fmt.Sprintf("%s, report %d %d ms later, %s", c.name, c.which, c.late, kind), func(t *testing.T) {
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

// later returns a report that was written some milliseconds later.
func later(report []byte, ms int) []byte {
	return regexp.MustCompile(`("timestamp_ms" : )(\d+)`).ReplaceAllFunc(report, func(text []byte) []byte {
		name, value, _ := bytes.Cut(text, []byte(" : "))
		at, _ := strconv.Atoi(string(value))
		return fmt.Appendf(name, " : %d", at+ms)
	})
}
