package assign_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// call is one call of fio, with times in seconds.
type call struct {
	start, ran int
	logs       string // names of the logs without "_clat_hist", such as "t.1.log"
	report     string // name of its report, which names all logs; empty if there is none
}

// write makes the files of a call, with the times at which fio wrote them or, if they are copies, another time.
func (c call) write(t *testing.T, dir string, isCopy, isEpoch bool) {
	t.Helper()
	began := time.Unix(1_763_900_000+int64(c.start), 0)
	end := began.Add(time.Duration(c.ran) * time.Second)
	at := end
	if isCopy {
		at = began.Add(time.Hour).Truncate(2 * time.Hour)
	}
	file := func(name, text string) {
		name = filepath.Join(dir, name)
		must(t, os.WriteFile(name, []byte(text), 0o644))
		must(t, os.Chtimes(name, at, at))
	}
	var jobs []string
	for name := range strings.FieldsSeq(c.logs) {
		prefix, rest, _ := strings.Cut(name, "_")
		var rows strings.Builder
		origin := int64(0)
		if isEpoch {
			origin = began.UnixMilli()
		}
		for row := range c.ran {
			fmt.Fprintf(&rows, "%d, 0, 4096, %d, 0\n", origin+int64(row+1)*1000, 400+c.start)
		}
		file(prefix+"_clat_hist."+rest, rows.String())
		jobs = append(jobs, fmt.Sprintf(`{"jobname": "j", "elapsed": %d, "job options": {"write_hist_log": %q, "log_hist_msec": "1000"}}`, c.ran+1, prefix))
	}
	if c.report != "" {
		file(c.report, fmt.Sprintf(`{"fio version": "fio-3.33", "timestamp_ms": %d, "jobs": [%s]}`, end.UnixMilli(), strings.Join(jobs, ", ")))
	}
}

// TestApart: logs whose prefixes differ by a number are of one run if a report names them together, or if they ended
// together.
func TestApart(t *testing.T) {
	const cbtDir = "00000000/id-7c1f03ab"
	for _, tt := range []struct {
		name   string
		dir    string
		calls  []call
		epochs bool
		want   []string // with the times of files
		copies []string // without
	}{
		{
			name: "one after another", calls: []call{{0, 4, "test.1_1.log", ""}, {6, 4, "test.2_1.log", ""}, {11, 4, "test.3_1.log", ""}},
			want:   []string{"test.1: test.1.1: ", "test.2: test.2.1: ", "test.3: test.3.1: "},
			copies: []string{"test: test.1.1 test.2.1 test.3.1: "},
		},
		{
			name: "with reports", calls: []call{{0, 3, "t_1.log", "t.json"}, {3, 3, "t.1_1.log", "t.1.json"}},
			want:   []string{"t.1: t.1.1: t.1.json prefix", "t: t.1: t.json prefix"},
			copies: []string{"t.1: t.1.1: t.1.json prefix", "t: t.1: t.json prefix"},
		},
		{
			name: "a report of the last one only", calls: []call{{0, 4, "t.1_1.log", ""}, {6, 4, "t.2_1.log", "t.json"}},
			want:   []string{"t.1: t.1.1: ", "t.2: t.2.1: t.json prefix"},
			copies: []string{"t.1: t.1.1: ", "t.2: t.2.1: t.json prefix"},
		},
		{
			name: "absolute times", epochs: true, calls: []call{{0, 4, "e.1_1.log", ""}, {6, 4, "e.2_1.log", ""}},
			want:   []string{"e.1: e.1.1: ", "e.2: e.2.1: "},
			copies: []string{"e: e.1.1 e.2.1: "}, // whose rows divide them
		},
		{
			name: "volumes of CBT", calls: []call{{0, 60, "output.0_1.log", "output.0"}, {3, 60, "output.1_1.log", "output.1"}, {1, 60, "output.2_1.log output.2_2.log", ""}},
			want:   []string{"output: output.0.1 output.1.1 output.2.1 output.2.2: output.0 name, output.1 name"},
			copies: []string{"output: output.0.1 output.1.1 output.2.1 output.2.2: output.0 name, output.1 name"},
		},
		{
			name: "no volumes of CBT", calls: []call{{0, 4, "output.0_1.log", "output.0"}, {5, 4, "output.1_1.log", "output.1"}},
			want:   []string{"output.0: output.0.1: output.0 name", "output.1: output.1.1: output.1 name"},
			copies: []string{"output.0: output.0.1: output.0 name", "output.1: output.1.1: output.1 name"},
		},
		{
			name: "CBT's own folder", dir: cbtDir, calls: []call{{0, 4, "output.0_1.log", "output.0"}, {5, 4, "output.1_1.log", "output.1"}},
			want:   []string{cbtDir + ": output.0.1 output.1.1: " + cbtDir + "/output.0 name, " + cbtDir + "/output.1 name"},
			copies: []string{cbtDir + ": output.0.1 output.1.1: " + cbtDir + "/output.0 name, " + cbtDir + "/output.1 name"},
		},
		{
			name: "side by side without reports", calls: []call{{0, 10, "t.0_1.log", ""}, {1, 10, "t.1_1.log", ""}},
			want: []string{"t: t.0.1 t.1.1: "}, copies: []string{"t: t.0.1 t.1.1: "},
		},
		{
			name: "pairs side by side", calls: []call{{0, 4, "p.1_1.log", ""}, {0, 4, "p.2_1.log", ""}, {9, 4, "p.3_1.log", ""}, {9, 4, "p.4_1.log", ""}},
			want:   []string{"p.1: p.1.1 p.2.1: ", "p.3: p.3.1 p.4.1: "},
			copies: []string{"p: p.1.1 p.2.1 p.3.1 p.4.1: "},
		},
		{
			name: "a minute beside another, then a third", calls: []call{{0, 60, "t.1_1.log", "t.1.json"}, {50, 10, "t.2_1.log", "t.2.json"}, {62, 60, "t.3_1.log", "t.3.json"}},
			want:   []string{"t.1: t.1.1 t.2.1: t.1.json prefix, t.2.json prefix", "t.3: t.3.1: t.3.json prefix"},
			copies: []string{"t.1: t.1.1 t.2.1: t.1.json prefix, t.2.json prefix", "t.3: t.3.1: t.3.json prefix"},
		},
		{
			name: "one report of both", calls: []call{{0, 12, "t.1_1.log t.2_2.log", "out.json"}},
			want: []string{"t: t.1.1 t.2.2: out.json options"}, copies: []string{"t: t.1.1 t.2.2: out.json options"},
		},
		{
			name: "two hosts, twice", calls: []call{{0, 8, "t.1_1.log.a t.1_1.log.b", ""}, {9, 8, "t.2_1.log.a t.2_1.log.b", ""}},
			want:   []string{"t.1: t.1.1 t.1.1: ", "t.2: t.2.1 t.2.1: "},
			copies: []string{"t: t.1.1 t.2.1 t.1.1 t.2.1: "},
		},
		{
			name: "a report of other logs, at another time", calls: []call{{0, 4, "x_1.log", "t.json"}, {6, 4, "t.1_1.log", ""}, {12, 4, "t.2_1.log", ""}},
			want:   []string{"t.1: t.1.1: ", "t.2: t.2.1: ", "x: x.1: t.json options"},
			copies: []string{"t: t.1.1 t.2.1: t.json prefix?", "x: x.1: t.json options"},
		},
		{
			name: "versions in names", calls: []call{{0, 5, "fio-3.33_1.log", "fio-3.33.json"}, {7, 5, "fio-3.42_1.log", "fio-3.42.json"}},
			want:   []string{"fio-3.33: fio-3.33.1: fio-3.33.json prefix", "fio-3.42: fio-3.42.1: fio-3.42.json prefix"},
			copies: []string{"fio-3.33: fio-3.33.1: fio-3.33.json prefix", "fio-3.42: fio-3.42.1: fio-3.42.json prefix"},
		},
	} {
		for _, isCopy := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "arch")
			must(t, os.MkdirAll(filepath.Join(dir, tt.dir), 0o755))
			for _, c := range tt.calls {
				c.write(t, filepath.Join(dir, tt.dir), isCopy, tt.epochs)
			}
			want := tt.want
			if isCopy {
				want = tt.copies
			}
			a := read(t.Context(), scan(t, dir))
			if diff := cmp.Diff(want, found(a)); diff != "" {
				t.Errorf("%s, copies %v (-want +got):\n%s", tt.name, isCopy, diff)
			}
		}
	}
}

// TestLostLog: the report of a killed fio, whose log is missing, is not of the run before it.
func TestLostLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "arch")
	must(t, os.MkdirAll(dir, 0o755))
	for _, c := range []call{{0, 4, "k.1_1.log", "k.1.json"}, {0, 4, "k.2_1.log", "k.2.json"}, {5, 4, "k.3_1.log", "k.3.json"}} {
		c.write(t, dir, false, false)
	}
	must(t, os.Remove(filepath.Join(dir, "k.3_clat_hist.1.log")))
	want := []string{"k.3: : k.3.json name", "k: k.1.1 k.2.1: k.1.json prefix, k.2.json prefix"}
	if diff := cmp.Diff(want, found(read(t.Context(), scan(t, dir)))); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// TestSectionsOneAfterAnother: sections of one job file are of one run, also if they ran one after another.
func TestSectionsOneAfterAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "arch")
	must(t, os.MkdirAll(dir, 0o755))
	for _, c := range []call{{0, 4, "t.1_1.log", ""}, {6, 4, "t.2_2.log", ""}} {
		c.write(t, dir, false, false)
	}
	must(t, os.WriteFile(filepath.Join(dir, "x.fio"), []byte("[a]\nwrite_hist_log=t.1\n[b]\nstonewall\nwrite_hist_log=t.2\n"), 0o644))
	if diff := cmp.Diff([]string{"t: t.1.1 t.2.2: "}, found(read(t.Context(), scan(t, dir)))); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}
