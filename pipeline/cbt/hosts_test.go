package cbt

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// hostsOf has a line for each run: its path and hosts, and in brackets what is said of them.
func hostsOf(runs []*Run) (all []string) {
	for _, r := range runs {
		line := strings.Join(append([]string{r.Path}, r.HostNames()...), " ")
		for _, d := range r.Doubts {
			switch {
			case strings.Contains(d, "read as one run of the hosts"):
				line += " [joined]"
			case strings.Contains(d, "ran the same jobs at the same time: if"):
				line += " [together]"
			case strings.Contains(d, "at different times"):
				line += " [different times]"
			case strings.Contains(d, "--one-run"):
				line += " [unknown]"
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

// TestHosts: folders and names of a loop over ssh are one run if names, jobs and times leave no doubt. What may be two
// executions stays apart.
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
		// One run.
		{"folders", inFolders("node01 node02 node10"), []string{"x node01 node02 node10 [joined]"}},
		{"folders, some seconds apart", later(inFolders("node01 node02 node03"), 3), []string{"x node01 node02 node03 [joined]"}},
		{"letters, cases", inFolders("hostA hostB hostC"), []string{"x hostA hostB hostC [joined]"}},
		{"letters without cases", inFolders("servera serverb"), []string{"x servera serverb [joined]"}},
		{"numbers apart", inFolders("ceph-node-1 ceph-node-2"), []string{"x ceph-node-1 ceph-node-2 [joined]"}},
		{"addresses", inFolders("10.0.0.9 10.0.0.10"), []string{"x 10.0.0.10 10.0.0.9 [joined]"}},
		{"addresses of a cloud", inFolders("ip-10-0-0-9 ip-10-0-0-10"), []string{"x ip-10-0-0-10 ip-10-0-0-9 [joined]"}},
		{"domains", inFolders("srv1.lab.example.com srv2.lab.example.com"), []string{"x srv1.lab.example.com srv2.lab.example.com [joined]"}},
		{"folders below those of hosts", append(inFolders("node01/4k node02/4k", "bs=4k"), all(inFolders("node01/8k node02/8k", "bs=8k"), 61)...),
			[]string{"4k/x node01 node02 [joined]", "8k/x node01 node02 [joined]"}},
		{"hosts below folders", append(inFolders("night1/node01 night1/node02"), all(inFolders("night2/node01 night2/node02"), 86400)...),
			[]string{"night1/x node01 node02 [joined]", "night2/x node01 node02 [joined]"}},
		{"files with the host in their names", inFolders("node01 node02", "filename=/mnt/HOST/f"), []string{"x node01 node02 [joined]"}},
		{"one file with the name of a host", inFolders("node01 node02", "filename=/mnt/node01"), []string{"x node01 node02 [joined]"}},
		{"hosts in racks", inFolders("rack1/node1 rack1/node2 rack2/node1 rack2/node2"), []string{"rack1/x node1 node2 [joined]", "rack2/x node1 node2 [joined]"}},
		{"names", []ofHost{
			{report: "out-node01.json", log: "x-node01_clat_hist.1.log", ran: 60}, {report: "out-node02.json", log: "x-node02_clat_hist.1.log", ran: 60},
		}, []string{"x node01 node02 [joined]"}},
		{"names that begin with the host, as people rename files", []ofHost{
			{report: "node01-out.json", log: "node01-x_clat_hist.1.log", ran: 60, options: "write_hist_log=x"},
			{report: "node02-out.json", log: "node02-x_clat_hist.1.log", ran: 60, options: "write_hist_log=x"},
		}, []string{"x node01 node02 [joined]"}},
		{"reports alone", []ofHost{{report: "node-1.json", ran: 60}, {report: "node-2.json", ran: 60}}, []string{". node-1 node-2 [joined]"}},

		{"reports with the host at the end", []ofHost{{report: "x.json.node1", ran: 60}, {report: "x.json.node2", ran: 60}}, []string{"x.json node1 node2 [joined]"}},
		{"logs with the host at the end", []ofHost{{log: "x_clat_hist.1.log.a1", ran: 60}, {log: "x_clat_hist.1.log.a2", ran: 60}}, []string{"x a1 a2"}},
		{"logs with the host in the middle", []ofHost{{log: "x_clat_hist.1.node1.log", ran: 60}, {log: "x_clat_hist.1.node2.log", ran: 60}}, []string{"x node1 node2"}},

		// Not one run, or not known to be one.
		{"one after the other", later(inFolders("node01 node02 node03"), 60), []string{"node01/x", "node02/x", "node03/x"}},
		{"one after the other, of three seconds", later(change(inFolders("node01 node02"), func(_ int, c *ofHost) { c.ran = 3 }), 3), []string{"node01/x", "node02/x"}},
		{"a day later", append(inFolders("node01"), all(inFolders("node02"), 86400)...), []string{"node01/x", "node02/x"}},
		{"half at the same time", later(inFolders("node01 node02"), 29), []string{"node01/x [together]", "node02/x"}},
		{"a short one in a long one", change(inFolders("node01 node02"), func(i int, c *ofHost) { c.ran = 60 - 50*i }), []string{"node01/x [together]", "node02/x"}},
		{"two sizes of requests", append(inFolders("node01", "bs=4k"), inFolders("node02", "bs=8k")...), []string{"node01/x", "node02/x"}},
		{"two devices", append(inFolders("node01", "filename=/dev/sdb"), inFolders("node02", "filename=/dev/sdc")...), []string{"node01/x", "node02/x"}},
		{"devices of one host", inFolders("nvme0n1 nvme1n1", "filename=/dev/HOST"), []string{"nvme0n1/x", "nvme1n1/x"}},
		{"what may be devices", inFolders("alpha1 alpha2", "filename=/mnt/HOST/f"), []string{"alpha1/x", "alpha2/x"}},
		{"file systems", inFolders("ext4 xfs", "directory=/mnt/HOST"), []string{"ext4/x", "xfs/x"}},
		{"repetitions, with a wrong clock", inFolders("run1 run2 run3"), []string{"run1/x [together]", "run2/x", "run3/x"}},
		{"repetitions of one host", append(inFolders("node01/run1"), inFolders("node01/run2")...), []string{"node01/run1/x [together]", "node01/run2/x"}},
		{"before and after", inFolders("before after"), []string{"after/x [together]", "before/x"}},
		{"no reports", noReports(inFolders("node01 node02")), []string{"node01/x [unknown]", "node02/x"}},
		{"no reports, one after the other", later(noReports(inFolders("node01 node02")), 60), []string{"node01/x", "node02/x"}},
		{"logs with the host at the end, one after the other", later([]ofHost{{log: "x_clat_hist.1.log.a1", ran: 60}, {log: "x_clat_hist.1.log.a2", ran: 60}}, 60),
			[]string{"x a1 a2 [different times]"}},
		{"no reports, and no names of hosts", noReports(inFolders("4k 8k")), []string{"4k/x", "8k/x"}},
		{"one without a report", append(inFolders("node01 node02"), noReports(inFolders("node03"))...), []string{"node01/x [unknown]", "node02/x", "node03/x"}},
		{"two machines, or two executions", inFolders("lab1 lab2"), []string{"lab1/x [together]", "lab2/x"}},
		{"devices of one name, on what may be two hosts", inFolders("web1 web2", "filename=/dev/sdb"), []string{"web1/x [together]", "web2/x"}},
		{"fio-plot's", []ofHost{
			{report: "4k/randread-16-1.json", ran: 60, options: "bs=4k iodepth=16 numjobs=1"}, {report: "4k/randread-16-2.json", ran: 60, start: 61, options: "bs=4k iodepth=16 numjobs=2"},
			{report: "8k/randread-16-1.json", ran: 60, start: 122, options: "bs=8k iodepth=16 numjobs=1"},
		}, []string{"4k/randread-16-1", "4k/randread-16-2", "8k/randread-16-1"}},
		{"a run of one host beside another", append(inFolders("node01"), ofHost{report: "node02/y.json", log: "node02/y_clat_hist.1.log", ran: 60}), []string{"node01/x", "node02/y"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := read(t.Context(), scan(t, writeHosts(t, tt.calls)))
			if diff := cmp.Diff(tt.want, hostsOf(a.Runs)); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			for _, r := range a.Runs {
				for _, d := range r.Doubts {
					t.Log(d)
				}
			}
		})
	}
}

// TestHostsOfCopies: a folder that was copied is no second host, also if somebody has formatted its report.
func TestHostsOfCopies(t *testing.T) {
	dir := writeHosts(t, inFolders("node01"))
	must(t, os.CopyFS(filepath.Join(dir, "node02"), os.DirFS(filepath.Join(dir, "node01"))))
	report := filepath.Join(dir, "node02", "out.json")
	text, err := os.ReadFile(report)
	must(t, err)
	if diff := cmp.Diff([]string{"node01/x"}, hostsOf(read(t.Context(), scan(t, dir)).Runs)); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
	must(t, os.WriteFile(report, append(text, '\n'), 0o644))
	if diff := cmp.Diff([]string{"node01/x", "node02/x"}, hostsOf(read(t.Context(), scan(t, dir)).Runs)); diff != "" {
		t.Errorf("formatted copy (-want +got):\n%s", diff)
	}
}

// TestHostsOfArguments: what the user passes folder by folder stays apart.
func TestHostsOfArguments(t *testing.T) {
	dir := writeHosts(t, inFolders("node01 node02"))
	a := read(t.Context(), scan(t, filepath.Join(dir, "node01"), filepath.Join(dir, "node02")))
	if diff := cmp.Diff([]string{"x", "x"}, hostsOf(a.Runs)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
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
		{"names", named, "a=out-left.json b=out-right.json a=x-left_clat_hist.1.log b=x-right_clat_hist.1.log", []string{"lab:x a b"}, ""},
		{"a pattern", named, "a=*-left[._]* b=*-right[._]*", []string{"lab:x a b"}, ""},
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
			var hosts []HostPath
			for p := range strings.FieldsSeq(tt.paths) {
				host, path, _ := strings.Cut(p, "=")
				paths, hosts = append(paths, filepath.Join(dir, path)), append(hosts, HostPath{host, filepath.Join(dir, path)})
			}
			a, err := Read(t.Context(), scan(t, paths...), hosts)
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
