package assign_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/google/go-cmp/cmp"
)

// job is one entry of a report: its name, then options.
type job []string

// fioReport is the beginning of what fio prints, with what this package reads of it.
func fioReport(jobs ...job) string {
	var entries []string
	for _, j := range jobs {
		var options []string
		for _, o := range j[1:] {
			key, value, _ := strings.Cut(o, "=")
			options = append(options, fmt.Sprintf("        %q : %q", key, value))
		}
		entries = append(entries, fmt.Sprintf("    {\n      \"jobname\" : %q,\n      \"job options\" : {\n%s\n      },\n      \"read\" : {\n        \"total_ios\" : 600\n      }\n    }",
			j[0], strings.Join(options, ",\n")))
	}
	return "{\n  \"fio version\" : \"fio-3.33\",\n  \"timestamp_ms\" : 1795309904147,\n  \"global options\" : {\n  },\n  \"jobs\" : [\n" +
		strings.Join(entries, ",\n") + "\n  ]\n}\n"
}

// found is where reports came from: "PATH: REPORT how, …" for each run, with "?" for
// candidates and the logs by their prefixes.
func found(a *assign.Archive) []string {
	var all []string
	for _, r := range a.Runs {
		var prefixes, reports []string
		for _, l := range logsOf(r) {
			prefixes = append(prefixes, fmt.Sprintf("%s.%d", l.Prefix, l.Job))
		}
		for _, f := range r.Reports {
			mark, host := "", ""
			if f.Candidate {
				mark = "?"
			}
			if f.Host != "" && !f.Named {
				host = "@" + f.Host
			}
			reports = append(reports, fmt.Sprintf("%s%s %s%s", f.File.Path, host, [...]string{"name", "prefix", "options", "folder", "above"}[f.Found], mark))
		}
		all = append(all, fmt.Sprintf("%s: %s: %s", r.Path, strings.Join(prefixes, " "), strings.Join(reports, ", ")))
	}
	slices.Sort(all)
	return all
}

const histMsec = "log_hist_msec=1000"

// findings are folders that people make, and what is to be found in them.
var findings = []struct {
	name  string
	files tree
	want  []string
	left  []string // path: part of the reason
}{
	{
		name:  "averages, and the report of another test, whose options name no logs",
		files: tree{"other.json": fioReport(job{"j", "bs=4k"})}.with("x_lat.1.log"),
		want:  []string{"other: : other.json name", "x: x.1: "},
	},
	{
		name:  "averages that were renamed, and their report",
		files: tree{"old.json": fioReport(job{"j", "write_lat_log=old"})}.with("x_lat.1.log"),
		want:  []string{"x: x.1: old.json folder?"},
	},
	{
		name:  "averages that were renamed, and two reports: nothing says which is theirs",
		files: tree{"a.json": fioReport(job{"j", "write_lat_log=a"}), "b.json": fioReport(job{"j", "write_lat_log=b"})}.with("x_lat.1.log"),
		want:  []string{"a: : a.json name", "b: : b.json name", "x: x.1: "},
	},
	{
		name:  "reports of two executions whose names differ by their ends",
		files: tree{"x.json": `{"fio version":"fio-2.8","jobs":[{"jobname":"t","read":{"total_ios":10,"iops":10.0,"runtime":1000}}]}`, "x.txt": fioText("t", 11)},
		want:  []string{"x.txt: : x.txt name", "x: : x.json name"},
	},
	{
		name:  "texts beside folders of their names with averages",
		files: tree{"x.out": fioText("rd", 10), "y.out": fioText("rd", 11)}.with("x/a_lat.1.log", "y/a_lat.1.log"),
		want:  []string{"x/a: a.1: x.out above?", "y/a: a.1: y.out above?"},
	},
	{
		name:  "texts beside a folder of averages with their names, one of which is the name of all jobs",
		files: tree{"x.out": fioText("rd", 10), "rd.out": fioText("rd", 11)}.with("logs/x_lat.1.log", "logs/rd_lat.1.log"),
		want:  []string{"logs/rd: rd.1: rd.out above?", "logs/x: x.1: x.out above?"},
	},
	{
		name:  "averages that one of two texts may be of",
		files: tree{"x.out": fioText("rd", 10), "y.out": fioText("rd", 11)}.with("a_lat.1.log"),
		want:  []string{"a: a.1: ", "x: : x.out name", "y: : y.out name"},
	},
	{
		name:  "logs that were moved beside their report's folder",
		files: tree{"reports/out.json": fioReport(job{"j", histMsec, "write_hist_log=x"})}.with("logs/x_clat_hist.1.log"),
		want:  []string{"logs/x: x.1: reports/out.json above?"},
	},
	{
		name:  "a report whose logs are gone, beside folders of other runs with logs of that name",
		files: tree{"reports/out.json": fioReport(job{"j", histMsec, "write_hist_log=x"})}.with("a/x_clat_hist.1.log", "b/x_clat_hist.1.log"),
		want:  []string{"a/x: x.1: ", "b/x: x.1: ", "reports/out: : reports/out.json name"},
	},
	{
		name:  "logs with other names than fio's: nothing is skipped in silence",
		files: tree{"x_clat_hist.1.run2.log": "1, 2\n"}.with("x_clat_hist.1.log"),
		want:  []string{"x: x.1: "},
		left:  []string{"x_clat_hist.1.run2.log: its name is not that of a log of fio"},
	},
	{
		name:  "sections of one group with prefixes that differ by a number, of which the report names the last",
		files: tree{"o.json": fioReport(job{"a", histMsec, "write_hist_log=x.2"})}.with("x.1_clat_hist.1.log", "x.2_clat_hist.2.log"),
		want:  []string{"x: x.1.1 x.2.2: o.json options"},
	},
	{
		name: "sections with a prefix each",
		files: tree{
			"out.json": fioReport(job{"rd", histMsec, "write_hist_log=rd"}, job{"wr", histMsec, "write_hist_log=foo/wr"}, job{"wr", histMsec, "write_hist_log=foo/wr"}, job{"none", histMsec}),
		}.with("rd_clat_hist.1.log", "foo/wr_clat_hist.2.log", "foo/wr_clat_hist.3.log", "none_clat_hist.4.log"),
		want: []string{"out: rd.1 foo/wr.2 foo/wr.3 none.4: out.json options"},
	},
	{
		name:  "options without a value: prefixes are the jobs' names",
		files: tree{"out.json": fioReport(job{"rd x", histMsec}, job{"wr", histMsec})}.with("rd x_clat_hist.1.log", "wr_clat_hist.2.log", "rd x_clat.1.log"),
		want:  []string{"out: rd x.1 wr.2 rd x.1: out.json options"},
	},
	{
		name: "a host at the end of reports, as at the end of logs",
		files: tree{"t.json.hostA": fioReport(job{"a", histMsec, "write_hist_log=t"}), "t.json.b.lab": fioReport(job{"b", histMsec}), "t.json.c": fioReport(job{"c", histMsec, "write_hist_log=t"})}.
			with("t_clat_hist.1.log.hostA", "t_clat_hist.1.log.b.lab"),
		want: []string{"t: t.1 t.1: t.json.b.lab@b.lab prefix, t.json.c@c prefix, t.json.hostA@hostA prefix"},
	},
	{
		name: "two executions, each with its report",
		files: tree{"a.json": fioReport(job{"a", histMsec, "write_hist_log=a"}), "b.json": fioReport(job{"b", histMsec, "write_hist_log=b"})}.
			with("a_clat_hist.1.log", "b_clat_hist.1.log"),
		want: []string{"a: a.1: a.json prefix", "b: b.1: b.json prefix"},
	},
	{
		name:  "no report: two executions",
		files: tree{}.with("a_clat_hist.1.log", "b_clat_hist.2.log"),
		want:  []string{"a: a.1: ", "b: b.2: "},
	},
	{
		name: "names differ from options",
		files: tree{"1.json": fioReport(job{"a", histMsec, "write_hist_log=b"}), "2.json": fioReport(job{"b", histMsec, "write_hist_log=a"})}.
			with("a_clat_hist.1.log", "b_clat_hist.1.log"),
		want: []string{"a: a.1: 2.json options", "b: b.1: 1.json options"},
	},
	{
		name:  "a report without logs, and logs that other programs may have written",
		files: tree{"fio.json": fioReport(job{"t", "rw=read"})}.with("cpu_bw.log", "disk_bw.log", "net_iops.log"),
		want:  []string{"fio: : fio.json name", "net: net.0: "},
		left:  []string{"cpu_bw.log: only bandwidth", "disk_bw.log: only bandwidth"},
	},
	{
		name: "normal and terse output, with and without the JSON of the run",
		files: tree{
			"t.json": `{"fio version":"fio-2.8","jobs":[{"jobname":"t","read":{"total_ios":10,"iops":10.0,"runtime":1000}}]}`,
			"t.txt":  fioText("t", 10), "terse.out": fioTerse("t", 10), "other.txt": fioText("t", 11), "more.out": fioTerse("u", 10), "notes.txt": "notes (g=0)\n",
			"docs.md": fioText("t", 12),
		},
		want: []string{"docs.md: : docs.md name", "more: : more.out name", "other: : other.txt name", "t: : t.json name"},
		left: []string{
			"notes.txt: is not fio's output, and there are no logs", "t.txt: fio's normal output of a run whose report is in t.json",
			"terse.out: fio's terse output of a run whose report is in t.json",
		},
	},
	{
		name:  "normal output beside logs",
		files: tree{"x.txt": fioText("x", 10)}.with("x_clat_hist.1.log"),
		want:  []string{"x: x.1: x.txt prefix"},
	},
	{
		name:  "a report that names other logs, and two logs without one",
		files: tree{"fio.json": fioReport(job{"t", "write_bw_log=t"})}.with("a_iops.1.log", "b_iops.1.log"),
		want:  []string{"a: a.1: ", "b: b.1: ", "fio: : fio.json name"},
	},
	{
		name:  "a report of fio 2, which lists no options, is of the only logs",
		files: tree{"fio.json": strings.ReplaceAll(fioReport(job{"t"}), `"job options"`, `"x"`)}.with("a_iops.1.log"),
		want:  []string{"a: a.1: fio.json folder?"},
	},
	{
		name:  "of several, nothing says of which",
		files: tree{"fio.json": strings.ReplaceAll(fioReport(job{"t"}), `"job options"`, `"x"`)}.with("a_iops.1.log", "b_iops.1.log"),
		want:  []string{"a: a.1: ", "b: b.1: ", "fio: : fio.json name"},
	},
	{
		name:  "the report in the folder above",
		files: tree{"out.json": fioReport(job{"j", histMsec, "write_hist_log=foo/bar"})}.with("foo/bar_clat_hist.1.log"),
		want:  []string{"foo/bar: bar.1: out.json options"},
	},
	{
		name:  "the same, and nothing in options: there is no other",
		files: tree{"out.json": fioReport(job{"j", histMsec})}.with("foo/bar_clat_hist.1.log"),
		want:  []string{"foo/bar: bar.1: out.json above?"},
	},
	{
		name:  "a report in a folder next to the logs",
		files: tree{"reports/out.json": fioReport(job{"j", histMsec, "write_hist_log=logs/x"})}.with("logs/x_clat_hist.1.log", "other/x_clat_hist.1.log"),
		want:  []string{"logs/x: x.1: reports/out.json options", "other/x: x.1: "},
	},
	{
		name:  "fio was started in the folder of the reports",
		files: tree{"reports/out.json": fioReport(job{"j", histMsec, "write_hist_log=../logs/x"})}.with("logs/x_clat_hist.1.log"),
		want:  []string{"logs/x: x.1: reports/out.json options"},
	},
	{
		name:  "fio was started in the folder of the logs",
		files: tree{"out.json": fioReport(job{"j", histMsec, "write_hist_log=x"})}.with("logs/x_clat_hist.1.log", "logs/y_clat_hist.1.log"),
		want:  []string{"logs/x: x.1: out.json above?", "logs/y: y.1: "},
	},
	{
		name:  "an absolute path, moved since",
		files: tree{"a/out.json": fioReport(job{"j", histMsec, "write_hist_log=/home/u/test/logs/x"})}.with("a/logs/x_clat_hist.1.log", "b/logs/x_clat_hist.1.log"),
		want:  []string{"a/logs/x: x.1: a/out.json options", "b/logs/x: x.1: "},
	},
	{
		name:  "the report of another test, above",
		files: tree{"prefill.json": fioReport(job{"fill", "rw=write"}), "t/x.json": fioReport(job{"j", histMsec, "write_hist_log=x"})}.with("t/x_clat_hist.1.log"),
		want:  []string{"prefill: : prefill.json name", "t/x: x.1: t/x.json prefix"},
	},
	{
		name:  "the report of another test beside logs: without log_hist_msec it made none",
		files: tree{"prefill.json": fioReport(job{"fill", "rw=write"})}.with("x_clat_hist.1.log"),
		want:  []string{"prefill: : prefill.json name", "x: x.1: "},
	},
	{
		name: "a report of logs that are gone",
		files: tree{"x.json": fioReport(job{"j", histMsec, "write_hist_log=x"}), "y.json": fioReport(job{"j", histMsec, "write_hist_log=y"})}.
			with("x_clat_hist.1.log"),
		want: []string{"x: x.1: x.json prefix", "y: : y.json name"},
	},
	{
		name:  "logs were renamed: the only report there is",
		files: tree{"result.json": fioReport(job{"j", histMsec, "write_hist_log=fio"})}.with("x_clat_hist.1.log"),
		want:  []string{"x: x.1: result.json folder?"},
	},
	{
		name: "reports of any name",
		files: tree{
			"a/result.dat": fioReport(job{"j", histMsec, "write_hist_log=x"}), "b/run1": fioReport(job{"j", histMsec}), "c/fio.log": "note: x\n" + fioReport(job{"j", histMsec, "write_hist_log=x"}),
			"d/x": fioReport(job{"j", histMsec, "write_hist_log=x"}), "a/foreign.dat": "no", "e/far.dat": fioReport(job{"j"}), "c/0123456789abcdef": fioReport(job{"j"}),
		}.with("a/x_clat_hist.1.log", "b/x_clat_hist.1.log", "c/x_clat_hist.1.log", "d/x_clat_hist.1.log"),
		want: []string{"a/x: x.1: a/result.dat options", "b/x: x.1: b/run1 folder?", "c/x: x.1: c/fio.log options", "d/x: x.1: d/x prefix", "e/far.dat: : e/far.dat name"},
	},
	{
		name: "not a report",
		files: tree{"notes.txt": "a text\n", "fio.json": fioReport(job{"j", histMsec, "write_hist_log=x"})}.
			with("x_clat_hist.1.log"),
		want: []string{"x: x.1: fio.json options"},
		left: []string{"notes.txt: is not fio's output"},
	},
	{
		name: "group_reporting: one entry for jobs of several prefixes",
		files: tree{"out.json": fioReport(job{"rd", histMsec, "write_hist_log=rd"})}.
			with("rd_clat_hist.1.log", "rd_clat_hist.2.log", "wr_clat_hist.3.log", "wr_clat_hist.4.log"),
		want: []string{"out: rd.1 rd.2 wr.3 wr.4: out.json options"},
	},
	{
		name: "the same, and another report names the same logs",
		files: tree{"out.json": fioReport(job{"rd", histMsec, "write_hist_log=rd"}), "old.json": fioReport(job{"rd", histMsec, "write_hist_log=rd", "bs=1"})}.
			with("rd_clat_hist.1.log", "wr_clat_hist.2.log"),
		want: []string{"old: rd.1 wr.2: old.json options, out.json options"},
	},
	{
		name: "not numbered through: of another execution",
		files: tree{"out.json": fioReport(job{"rd", histMsec, "write_hist_log=rd"})}.
			with("rd_clat_hist.1.log", "wr_clat_hist.3.log"),
		want: []string{"rd: rd.1: out.json options", "wr: wr.3: "},
	},
	{
		name: "a log left over from an earlier execution",
		files: tree{"out.json": fioReport(job{"rd", histMsec, "write_hist_log=rd"}, job{"wr", histMsec, "write_hist_log=wr"})}.
			with("rd_clat_hist.1.log", "wr_clat_hist.1.log", "wr_clat_hist.2.log"),
		want: []string{"out: rd.1 wr.2: out.json options"},
		left: []string{"wr_clat_hist.1.log: left over from another execution: job 1 of"},
	},
	{
		name: "the only log that the options name in a run was left over: its name alone is not certain",
		files: tree{"t.1.json": fioReport(job{"j", histMsec, "write_hist_log=x"}, job{"t.1", histMsec}, job{"k", histMsec, "write_hist_log=y"})}.
			with("x_clat_hist.1.log", "t.1_clat_hist.1.log", "t.2_clat_hist.2.log", "y_clat_hist.2.log"),
		want: []string{"t: t.2.2: t.1.json prefix?", "x: x.1: t.1.json options", "y: y.2: t.1.json options"},
		left: []string{"t.1_clat_hist.1.log: left over from another execution: job 1 of"},
	},
	{
		name: "logs of both executions are there, and nothing says which is which",
		files: tree{"out.json": fioReport(job{"rd", histMsec, "write_hist_log=rd"}, job{"wr", histMsec, "write_hist_log=wr"})}.
			with("rd_clat_hist.1.log", "wr_clat_hist.1.log", "wr_clat_hist.2.log", "wr_clat_hist.3.log"),
		want: []string{"rd: rd.1: out.json options", "wr: wr.1 wr.2 wr.3: out.json options"},
	},
	{
		name: "a job file unites",
		files: tree{"test.fio": "[global]\nlog_hist_msec=1000\n[a]\nwrite_hist_log=rd\nnumjobs=2\n[b]\nwrite_hist_log\n"}.
			with("rd_clat_hist.1.log", "rd_clat_hist.2.log", "b_clat_hist.3.log"),
		want: []string{"test: rd.1 rd.2 b.3: "},
	},
	{
		name: "a job file unites runs that have a report each",
		files: tree{
			"test.fio":  "[a]\nlog_hist_msec=1000\nwrite_hist_log=a/rd\n[b]\nwrite_hist_log=b/wr\n",
			"a/rd.json": fioReport(job{"a", histMsec, "write_hist_log=a/rd"}), "b/wr.json": fioReport(job{"b", histMsec, "write_hist_log=b/wr"}),
		}.with("a/rd_clat_hist.1.log", "b/wr_clat_hist.2.log"),
		want: []string{"test: a/rd.1 b/wr.2: a/rd.json prefix, b/wr.json prefix"},
	},
	{
		name:  "logs of all jobs",
		files: tree{"out.json": fioReport(job{"rd", histMsec, "write_hist_log=rd"}, job{"wr", histMsec, "write_hist_log=wr"})}.with("rd_clat_hist.log", "wr_clat_hist.log"),
		want:  []string{"out: rd.0 wr.0: out.json options"},
	},
	{
		name: "fio --client",
		files: tree{"out.json": strings.Replace(fioReport(job{"rd", histMsec, "write_hist_log=rd"}, job{"wr", histMsec, "write_hist_log=wr"}, job{"All clients"}), `"jobs"`, `"client_stats"`, 1)}.
			with("rd_clat_hist.1.log.10.0.0.1", "wr_clat_hist.2.log.10.0.0.1", "rd_clat_hist.1.log.h2", "wr_clat_hist.2.log.h2"),
		want: []string{"out: rd.1 wr.2 rd.1 wr.2: out.json options"},
	},
}

// fioText returns fio's normal output of a job, and fioTerse its terse output.
func fioText(name string, iops int) string {
	return fmt.Sprintf("%s: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=psync, iodepth=1\nfio-2.8\n%[1]s: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 23 19:03:13 2026\n"+
		"  read : io=40KB, bw=40KB/s, iops=%[2]d, runt=  1000msec\n     issued    : total=r=%[2]d/w=0/d=0, short=r=0/w=0/d=0\n", name, iops)
}

func fioTerse(name string, iops int) string {
	latencies := strings.Repeat(";0", 8) + strings.Repeat(";0%=0", 20) + ";0;0;0;0;0;0;0%;0;0"
	return fmt.Sprintf("3;fio-2.8;%s;0;0;40;40;%d;1000%s;0;0;0;0%[3]s;0%%;0%%;0;0;0%s\n", name, iops, latencies, strings.Repeat(";0%", 29))
}

func TestFindings(t *testing.T) {
	for _, tt := range findings {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.files.read(t)
			if diff := cmp.Diff(tt.want, withDirs(a)); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			got := reasons(a)
			if len(got) != len(tt.left) {
				t.Fatalf("left %q, want %q", got, tt.left)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.left[i]) {
					t.Errorf("left %q, want %q…", got[i], tt.left[i])
				}
			}
		})
	}
}

// withDirs is found, with the folders of logs that are not in that of the run.
func withDirs(a *assign.Archive) []string {
	all := found(a)
	for _, r := range a.Runs {
		for _, l := range logsOf(r) {
			dir := filepath.ToSlash(filepath.Dir(l.File.Path))
			if dir != "." && !strings.HasPrefix(r.Path, dir) {
				for i := range all {
					if strings.HasPrefix(all[i], r.Path+": ") {
						name := fmt.Sprintf("%s.%d", l.Prefix, l.Job)
						all[i] = strings.Replace(all[i], " "+name, " "+dir+"/"+name, 1)
					}
				}
			}
		}
	}
	return all
}

// What is found is the same packed, and two folders deeper.
func TestFindingsPacked(t *testing.T) {
	for _, tt := range findings {
		t.Run(tt.name, func(t *testing.T) {
			folder := found(tt.files.read(t))
			if diff := cmp.Diff(folder, found(read(context.Background(), scan(t, tt.files.pack(t, "arch"))))); diff != "" {
				t.Errorf("(-folder +packed):\n%s", diff)
			}
			deep := found(tt.files.under("to/the").read(t))
			for i := range deep {
				deep[i] = strings.ReplaceAll(deep[i], "to/the/", "")
			}
			if diff := cmp.Diff(folder, deep); diff != "" {
				t.Errorf("(-folder +deeper):\n%s", diff)
			}
		})
	}
}

// A report that was set aside is still of its host, also where the original is gone.
func TestRenamedReport(t *testing.T) {
	for name, want := range map[string][2]string{
		"json_output.0.h1.old": {"0", "h1"}, "output.12.h1.lab.bak": {"12", "h1.lab"}, "output.0.old": {"0", ""}, "output.0.h1~": {"0", "h1"},
		"output.0.10.0.0.1": {"0", "10.0.0.1"}, "output.0.h1": {"0", "h1"}, "output.3": {"3", ""}, "live_output.2.h1": {"2", "h1"}, "output.0.old.lab": {"0", "old.lab"},
	} {
		if volume, host, ok := layout.ParseReport(name, true); !ok || volume != want[0] || host != want[1] {
			t.Errorf("%s: volume %q, host %q, %v; want %q", name, volume, host, ok, want)
		}
	}
	if _, host, ok := layout.ParseReport("output.old", false); !ok || host != "" {
		t.Errorf("output.old of rbdfio: host %q, %v", host, ok)
	}
}

// TestTwice: without a report, logs of completions beside histogram logs may have the same requests under another prefix.
func TestTwice(t *testing.T) {
	for _, tt := range []struct {
		names string
		want  int // doubts
	}{{"h_clat_hist.1.log l_clat.1.log", 1}, {"h_clat_hist.1.log l_clat.2.log", 0}, {"h_clat_hist.1.log l_bw.1.log l_iops.1.log", 0}} {
		doubts := 0
		for _, r := range (tree{}).with(strings.Fields(tt.names)...).read(t).Runs {
			for _, d := range r.Doubts {
				if strings.Contains(d, "may have the same requests") {
					doubts++
				}
			}
		}
		if doubts != tt.want {
			t.Errorf("%s: %d doubts, want %d", tt.names, doubts, tt.want)
		}
	}
}
