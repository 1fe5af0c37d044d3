package assign_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/fio2es/fio2es/pipeline/source"
)

// histRow is a row of a histogram log with that many bins.
func histRow(bins int) string { return "1000, 0, 4096" + strings.Repeat(", 7", bins) + "\n" }

func TestNamedFiles(t *testing.T) {
	files := tree{
		"a.txt": histRow(1856), "b.dat": histRow(928), "c": "1, 12345, 0, 4096\n", "my_bw.txt": "1000, 5, 0, 0\n", "avg.txt": "1000, 5, 0, 0\n",
		"r.dat": fioReport(job{"j"}), "text": "hello, world\n", "empty": "", "x_clat_hist.1.log.bak": histRow(1856), "j.fio": "[j]\n",
		"prefix.3.txt": histRow(1856),
	}
	root := files.write(t, "arch")
	type one struct {
		path string
		kind fiolog.Kind
	}
	for name, want := range map[string]one{
		"a.txt": {"a", fiolog.ClatHist}, "b.dat": {"b.dat", fiolog.ClatHist}, "c": {"c", fiolog.Clat}, "my_bw.txt": {"my_bw", fiolog.BW},
		"x_clat_hist.1.log.bak": {"x", fiolog.ClatHist}, "prefix.3.txt": {"prefix", fiolog.ClatHist},
	} {
		a := read(context.Background(), scan(t, filepath.Join(root, name)))
		if len(a.Runs) != 1 || len(logsOf(a.Runs[0])) != 1 || a.Runs[0].Path != want.path || logsOf(a.Runs[0])[0].Kind != want.kind || !a.Runs[0].IsLoose() {
			t.Errorf("%s: %+v, left %q", name, shorts(a), reasons(a))
		}
		if isPlain := name == "x_clat_hist.1.log.bak"; (len(a.Runs[0].Doubts) == 0) != isPlain {
			t.Errorf("%s: doubts %q", name, a.Runs[0].Doubts)
		}
	}
	a := read(context.Background(), scan(t, filepath.Join(root, "r.dat")))
	if len(a.Runs) != 1 || len(a.Runs[0].Reports) != 1 || !a.Runs[0].IsLoose() || a.Runs[0].Reports[0].Candidate {
		t.Errorf("a report: %+v, left %q", shorts(a), reasons(a))
	}
	for name, want := range map[string]string{
		"avg.txt": "rows of averages", "text": `is neither a log nor a report of fio: it begins with "hello, world"`, "empty": "is empty", "j.fio": "is a job file",
	} {
		a := read(context.Background(), scan(t, filepath.Join(root, name)))
		if len(a.Runs) != 0 || len(a.Left) != 1 || !strings.Contains(a.Left[0].Reason, want) || !a.Left[0].Notable {
			t.Errorf("%s: %+v, left %q", name, shorts(a), reasons(a))
		}
	}
	// In a folder names count.
	a = read(context.Background(), scan(t, root))
	for _, r := range a.Runs {
		if len(logsOf(r)) > 0 || r.IsLoose() {
			t.Errorf("in a folder: %+v", short(r))
		}
	}
}

func TestStdin(t *testing.T) {
	for text, want := range map[string]inShort{
		histRow(1856) + histRow(1856): {Path: "stdin", Name: "stdin", Logs: "//0"},
		"1, 2, 0, 4096\n":             {Path: "stdin", Name: "stdin", Others: "//0"},
		fioReport(job{"j"}):           {Path: "stdin", Name: "stdin", Reports: "/?"},
	} {
		opt := layout.Options()
		opt.Stdin = strings.NewReader(text)
		set, err := source.Scan(t.Context(), []string{"-"}, opt)
		must(t, err)
		a := read(context.Background(), evidence.All(set.Files))
		if diff := cmp.Diff([]inShort{want}, shorts(a)); diff != "" || !a.Runs[0].IsLoose() {
			t.Errorf("%.20q (-want +got):\n%s", text, diff)
		}
		must(t, set.Close())
	}
}

// TestNamedAsFolder: logs that are named find what they find in their folder.
func TestNamedAsFolder(t *testing.T) {
	cases := slices.Clone(findings)
	for _, c := range duplicateCases {
		cases = append(cases, findings[0])
		cases[len(cases)-1].name, cases[len(cases)-1].files = c.name, c.files
	}
	for _, tt := range cases {
		var logs []string
		flat := !strings.Contains(tt.name, "CBT")
		for p := range tt.files {
			if layout.RoleOf(p) == layout.RoleLog {
				logs = append(logs, p)
			}
			flat = flat && !strings.Contains(p, "/") && layout.RoleOf(p) != layout.RoleNone
		}
		if !flat || len(logs) == 0 {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			root := tt.files.write(t, "arch")
			var paths []string
			slices.Sort(logs)
			for _, l := range logs {
				paths = append(paths, filepath.Join(root, l))
			}
			named := read(context.Background(), scan(t, paths...))
			folder := slices.DeleteFunc(found(read(context.Background(), scan(t, root))), func(line string) bool { return strings.Contains(line, ": : ") }) // reports alone
			if diff := cmp.Diff(folder, found(named)); diff != "" {
				t.Errorf("(-folder +named):\n%s", diff)
			}
			for _, r := range named.Runs {
				if !r.IsLoose() {
					t.Errorf("%s is not loose", r.Path)
				}
			}
		})
	}
}

// The report may be in the folder above what the user named.
func TestBesideAbove(t *testing.T) {
	root := tree{
		"out.json": fioReport(job{"j", histMsec, "write_hist_log=foo/bar"}), "other.json": fioReport(job{"j", histMsec, "write_hist_log=x"}), "test.fio": "[j]\nwrite_hist_log=foo/bar\n",
	}.with("foo/bar_clat_hist.1.log").write(t, "arch")
	for _, arg := range []string{"foo", "foo/bar_clat_hist.1.log"} {
		a := read(context.Background(), scan(t, filepath.Join(root, arg)))
		if len(a.Runs) != 1 || len(a.Runs[0].Reports) != 1 || a.Runs[0].Reports[0].Found != assign.FoundOptions || a.Runs[0].Job == nil || len(a.Left) > 0 {
			t.Errorf("%s: %v, left %q", arg, found(a), reasons(a))
		}
		if got := a.Runs[0].IsLoose(); got != (arg != "foo") {
			t.Errorf("%s: loose %v", arg, got)
		}
	}
}
