package assign_test

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/google/go-cmp/cmp"
)

// ofHost is one call of fio on a host: the names of its report and of the log, which may be "", and what it did.
type ofHost struct {
	report, log string
	start, ran  int    // in seconds
	options     string // besides the name of the log: "bs=8k filename=/dev/sdb"
}

// write makes the files of the calls in a folder named "lab". Files were last written at the end of the call.
func writeHosts(t *testing.T, calls []ofHost) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "lab")
	for n, c := range calls {
		end := time.Unix(1_763_900_000+int64(c.start+c.ran), 0)
		file := func(name, text string) {
			name = filepath.Join(dir, name)
			must(t, os.MkdirAll(filepath.Dir(name), 0o755))
			must(t, os.WriteFile(name, []byte(text), 0o644))
			must(t, os.Chtimes(name, end, end))
		}
		options := []string{`"rw": "randread"`}
		if c.log != "" {
			prefix, _, _ := strings.Cut(filepath.Base(c.log), "_clat_hist")
			options = append(options, fmt.Sprintf(`"write_hist_log": %q`, prefix), `"log_hist_msec": "1000"`)
			rows := ""
			for row := range c.ran {
				rows += fmt.Sprintf("%d, 0, 4096, %d, 0\n", (row+1)*1000, 4000+n)
			}
			file(c.log, rows)
		}
		for option := range strings.FieldsSeq(c.options) {
			name, value, _ := strings.Cut(option, "=")
			if name == "write_hist_log" {
				options[1] = fmt.Sprintf(`"write_hist_log": %q`, value)
				continue
			}
			options = append(options, fmt.Sprintf("%q: %q", name, value))
		}
		if c.report != "" {
			file(c.report, fmt.Sprintf(`{"fio version": "fio-3.33", "timestamp_ms": %d, "jobs": [{"jobname": "j", "elapsed": %d, "job options": {%s},
				"read": {"total_ios": %d, "runtime": %d}}]}`, end.UnixMilli()+int64(n), c.ran+1, strings.Join(options, ", "), 4000+n, 1000*c.ran))
		}
	}
	return dir
}

// hostsOf has a line for each run: its path and hosts, and in brackets which call would join it with others.
func hostsOf(runs []*assign.Run) (all []string) {
	for _, r := range runs {
		line := strings.Join(append([]string{r.Path}, r.HostNames()...), " ")
		for _, d := range r.Doubts {
			if _, call, ok := strings.Cut(d, "--one-run "); ok {
				line += " ["
				for arg := range strings.FieldsSeq(call) {
					host, _, _ := strings.Cut(arg, "=")
					line += host + " "
				}
				line = strings.TrimSpace(line) + "]"
			}
		}
		all = append(all, line)
	}
	return all
}

// inFolders are calls in folders, all at one time.
func inFolders(folders string, options ...string) (calls []ofHost) {
	for i, name := range strings.Fields(folders) {
		calls = append(calls, ofHost{report: name + "/out.json", log: name + "/x_clat_hist.1.log", ran: 60, options: strings.Join(options, " ")})
		calls[i].options = strings.ReplaceAll(calls[i].options, "HOST", filepath.Base(name))
	}
	return calls
}

// TestHosts: nothing but the user says that folders are those of the hosts of one run. If jobs and times agree, one doubt names the call that says it.
func TestHosts(t *testing.T) {
	change := func(calls []ofHost, f func(i int, c *ofHost)) []ofHost {
		for i := range calls {
			f(i, &calls[i])
		}
		return calls
	}
	later := func(calls []ofHost, seconds int) []ofHost {
		return change(calls, func(i int, c *ofHost) { c.start += i * seconds })
	}
	all := func(calls []ofHost, seconds int) []ofHost {
		return change(calls, func(_ int, c *ofHost) { c.start += seconds })
	}
	noReports := func(calls []ofHost) []ofHost { return change(calls, func(_ int, c *ofHost) { c.report = "" }) }
	for _, tt := range []struct {
		name  string
		calls []ofHost
		want  []string
	}{
		{"folders", inFolders("node01 node02 lab3"), []string{"lab3/x [lab3 node01 node02]", "node01/x", "node02/x"}},
		{"some seconds apart", later(inFolders("a b c"), 3), []string{"a/x [a b c]", "b/x", "c/x"}},
		{"many", inFolders("a b c d e f g"), []string{"a/x [a b c d e ...]", "b/x", "c/x", "d/x", "e/x", "f/x", "g/x"}},
		{"several runs of each", append(inFolders("a/4k b/4k", "bs=4k"), all(inFolders("a/8k b/8k", "bs=8k"), 61)...),
			[]string{"a/4k/x [a b]", "a/8k/x", "b/4k/x", "b/8k/x"}},
		{"hosts below folders", append(inFolders("night1/a night1/b"), all(inFolders("night2/a night2/b"), 86400)...),
			[]string{"night1/a/x [a b]", "night1/b/x", "night2/a/x [a b]", "night2/b/x"}},
		{"racks", inFolders("rack1/a rack1/b rack2/a rack2/b"), []string{"rack1/a/x [rack1 rack2]", "rack1/b/x", "rack2/a/x", "rack2/b/x"}},
		{"other devices and files", inFolders("a b", "filename=/mnt/HOST/f"), []string{"a/x [a b]", "b/x"}},
		{"other names of jobs", inFolders("a b", "name=HOST"), []string{"a/x [a b]", "b/x"}},
		{"reports alone", change(inFolders("a b"), func(_ int, c *ofHost) { c.log = "" }), []string{"a/out [a b]", "b/out"}},
		{"two in pairs", append(inFolders("a b"), all(inFolders("c d"), 300)...), []string{"a/x [a b]", "b/x", "c/x [c d]", "d/x"}},

		{"one after the other", later(inFolders("a b c"), 60), []string{"a/x", "b/x", "c/x"}},
		{"two sizes of requests", append(inFolders("a", "bs=4k"), inFolders("b", "bs=8k")...), []string{"a/x", "b/x"}},
		{"no reports", noReports(inFolders("a b")), []string{"a/x", "b/x"}},
		{"one without a report", append(inFolders("a"), noReports(inFolders("b"))...), []string{"a/x", "b/x"}},
		{"files in one folder", []ofHost{{report: "out-a.json", log: "x-a_clat_hist.1.log", ran: 60}, {report: "out-b.json", log: "x-b_clat_hist.1.log", ran: 60}},
			[]string{"x-a", "x-b"}},
		{"another run", append(inFolders("a"), ofHost{report: "b/y.json", log: "b/y_clat_hist.1.log", ran: 60}), []string{"a/x", "b/y"}},
		{"names of hosts as fio --client appends them", []ofHost{{log: "x_clat_hist.1.log.a1", ran: 60}, {log: "x_clat_hist.1.log.a2", ran: 60}}, []string{"x a1 a2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := read(t.Context(), scan(t, writeHosts(t, tt.calls)))
			if diff := cmp.Diff(tt.want, hostsOf(a.Runs)); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPathsOfHosts: the call names paths as the user would, and the hosts of an archive are to be unpacked.
func TestPathsOfHosts(t *testing.T) {
	dir := writeHosts(t, inFolders("a b"))
	packed := filepath.Join(t.TempDir(), "lab.tar")
	file, err := os.Create(packed)
	must(t, err)
	archive := tar.NewWriter(file)
	must(t, archive.AddFS(os.DirFS(filepath.Dir(dir))))
	must(t, archive.Close())
	must(t, file.Close())
	for path, want := range map[string]string{
		dir:    fmt.Sprintf("pass --one-run a=%[1]s/a b=%[1]s/b", dir),
		packed: "unpack them and pass --one-run a=a b=b",
	} {
		if got := fmt.Sprint(read(t.Context(), scan(t, path)).Runs[0].Doubts); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestOneRun: the user says which paths have the hosts of one run.
func TestOneRun(t *testing.T) {
	named := []ofHost{
		{report: "out-left.json", log: "x-left_clat_hist.1.log", ran: 60}, {report: "out-right.json", log: "x-right_clat_hist.1.log", ran: 60, start: 90},
	}
	for _, tt := range []struct {
		name  string
		calls []ofHost
		paths string // HOST=PATH
		want  []string
		fails string // part of the error
	}{
		{"folders", inFolders("alpha beta"), "a=alpha b=beta", []string{"lab:x a b"}, ""},
		{"no reports", inFolders("alpha beta"), "a=alpha/x_clat_hist.1.log b=beta/x_clat_hist.1.log", []string{"lab:x a b"}, ""},
		{"names", named, "a=out-left.json b=out-right.json a=x-left_clat_hist.1.log b=x-right_clat_hist.1.log", []string{"lab:. a b"}, ""},
		{"a pattern", named, "a=*-left[._]* b=*-right[._]*", []string{"lab:. a b"}, ""},
		{"several runs", append(inFolders("a/4k b/4k"), inFolders("a/8k b/8k")...), "A=a B=b", []string{"lab:4k/x A B", "lab:8k/x A B"}, ""},
		{"one host", inFolders("alpha"), "a=alpha", []string{"alpha:x a"}, ""},
		{"a copy", append(inFolders("alpha"), ofHost{}), "a=alpha b=copy", []string{"lab:x a"}, ""},
		{"other runs", append(inFolders("a/4k b/4k"), inFolders("a/8k")...), "A=a B=b", nil, "want the same runs of each host: A has 4k/x, 8k/x, and B has 4k/x"},
		{"nothing there", append(inFolders("a"), ofHost{}), "a=a b=empty", nil, "b=empty: no fio logs"},
		{"several hosts", []ofHost{{log: "a/x_clat_hist.1.log.n1", ran: 9}, {log: "a/x_clat_hist.1.log.n2", ran: 9}}, "A=a", nil, "want files of one host: these are of n1, n2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := writeHosts(t, slices.DeleteFunc(slices.Clone(tt.calls), func(c ofHost) bool { return c == ofHost{} }))
			must(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o755))
			if strings.Contains(tt.paths, "=copy") {
				must(t, os.CopyFS(filepath.Join(dir, "copy"), os.DirFS(filepath.Join(dir, "alpha"))))
			}
			var paths []string
			var hosts []assign.HostPath
			for p := range strings.FieldsSeq(tt.paths) {
				host, path, _ := strings.Cut(p, "=")
				paths, hosts = append(paths, filepath.Join(dir, path)), append(hosts, assign.HostPath{host, filepath.Join(dir, path)})
			}
			a, err := assign.Read(t.Context(), scan(t, paths...), hosts)
			if tt.fails != "" || err != nil {
				if text := fmt.Sprint(err); tt.fails == "" || !strings.Contains(strings.ReplaceAll(text, dir+"/", ""), tt.fails) {
					t.Errorf("error %v, want %q", err, tt.fails)
				}
				return
			}
			got := hostsOf(a.Runs)
			for i, r := range a.Runs {
				got[i] = r.Archive + ":" + got[i]
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}
