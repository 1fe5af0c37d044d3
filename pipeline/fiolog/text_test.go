package fiolog_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// fioText returns output of fio from testdata/text: VERSION-JOB is that of --output-format=normal,terse,json, in which all
// three are of one run.
func fioText(t testing.TB, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "text", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// only returns the text in one format.
func only(all string, f fiolog.Format) string {
	document, terse := regexp.MustCompile(`(?ms)^\{.*?^\}\n`), regexp.MustCompile(`(?m)^[345];.*\n`)
	switch f {
	case fiolog.JSON:
		return document.FindString(all)
	case fiolog.Normal:
		return terse.ReplaceAllString(document.ReplaceAllString(all, ""), "")
	default:
		return strings.Join(terse.FindAllString(all, -1), "")
	}
}

func oneReport(t *testing.T, text string) *fiolog.Report {
	t.Helper()
	reports, faults := readReports(strings.NewReader(text))
	if len(reports) != 1 || len(faults) > 0 {
		t.Fatalf("got %d reports and %q", len(reports), faults)
	}
	return reports[0]
}

// TestText compares all that real fio prints as text with its JSON of the same run.
func TestText(t *testing.T) {
	for _, name := range []string{
		"2.21-mixed", "3.1-mixed", "3.16-mixed", "3.33-mixed", "3.33-both", "3.42-mixed", "3.42-group", "3.42-ms", "3.42-null", "3.42-unified", "3.42-numjobs", "3.42-trim",
	} {
		all := fioText(t, name)
		want := oneReport(t, only(all, fiolog.JSON))
		if got := oneReport(t, all); got.Format != fiolog.JSON || got.Timestamp != want.Timestamp {
			t.Errorf("%s: of all formats in one file %v is read", name, got.Format)
		}
		for _, format := range []fiolog.Format{fiolog.Normal, fiolog.Terse} {
			got := oneReport(t, only(all, format))
			if got.Format != format || got.Version != want.Version || got.Unit != want.Unit || len(got.Jobs) != len(want.Jobs) || got.Doubt != "" {
				t.Errorf("%s: %v: got %v of %s with %d jobs, want %d; %s", name, format, got.Format, got.Version, len(got.Jobs), len(want.Jobs), got.Doubt)
				continue
			}
			if format == fiolog.Normal && (!got.IsLocal || got.Timestamp/1000 != want.Timestamp/1000) {
				t.Errorf("%s: at %d, want %d", name, got.Timestamp, want.Timestamp)
			}
			for i := range want.Jobs {
				compareJobs(t, fmt.Sprintf("%s: %v: job %d", name, format, i), format, &want.Jobs[i], &got.Jobs[i])
			}
		}
	}
}

// compareJobs compares a job in a text with that in JSON, to the steps to which the text is rounded.
func compareJobs(t *testing.T, title string, format fiolog.Format, want, got *fiolog.Job) {
	near := func(what string, want, got, step float64) {
		t.Helper()
		if math.Abs(want-got) > step {
			t.Errorf("%s: %s %v, want %v ± %v", title, what, got, want, step)
		}
	}
	if got.Name != want.Name || got.GroupID != want.GroupID || got.Error != want.Error || (got.Mixed == nil) != (want.Mixed == nil) {
		t.Errorf("%s: got %s of group %d, error %d; want %s of %d, %d", title, got.Name, got.GroupID, got.Error, want.Name, want.GroupID, want.Error)
		return
	}
	near("user CPU", want.UsrCPU, got.UsrCPU, 0.01)
	near("system CPU", want.SysCPU, got.SysCPU, 0.01)
	for d, w := range want.All() {
		g := got.All()[d]
		if w.Runtime == 0 && w.TotalIOs == 0 {
			if g.Runtime != 0 || g.TotalIOs != 0 || len(g.Clat.Percentiles) > 0 {
				t.Errorf("%s: requests of direction %d: %+v", title, d, g)
			}
			continue
		}
		near("run time", float64(w.Runtime), float64(g.Runtime), 0)
		near("bandwidth", float64(w.BandwidthBytes), float64(g.BandwidthBytes), 1024+float64(1024_000/w.Runtime)) // JSON of fio before 3.2 has KiB/s
		if format == fiolog.Normal {
			near("requests", float64(w.TotalIOs), float64(g.TotalIOs), 0)
			near("bytes", float64(w.IOBytes), float64(g.IOBytes), 0)
			near("IOPS", w.IOPS, g.IOPS, 0.001)
		} else {
			near("bytes", float64(w.IOBytes), float64(g.IOBytes), 1023)
			near("IOPS", w.IOPS, g.IOPS, 1)
			if !g.Uncounted {
				t.Errorf("%s: terse output does not count requests", title)
			}
		}
		for i, of := range []struct{ w, g *fiolog.Latency }{{&w.Slat, &g.Slat}, {&w.Clat, &g.Clat}, {&w.Lat, &g.Lat}} {
			const digits = 1e4 // of a maximum
			step := float64(of.g.Step)
			near(fmt.Sprint("minimum ", i), float64(of.w.Min), float64(of.g.Min), step)
			near(fmt.Sprint("maximum ", i), float64(of.w.Max), float64(of.g.Max), max(step, float64(of.w.Max)/digits))
			near(fmt.Sprint("mean ", i), of.w.Mean, of.g.Mean, step/100)
			near(fmt.Sprint("deviation ", i), of.w.StdDev, of.g.StdDev, step/100)
			if len(of.w.Percentiles) != len(of.g.Percentiles) {
				t.Errorf("%s: latency %d has %d percentiles, want %d", title, i, len(of.g.Percentiles), len(of.w.Percentiles))
				continue
			}
			for k, p := range of.w.Percentiles {
				if of.g.Percentiles[k].Rank != p.Rank {
					t.Errorf("%s: percentile %v, want %v", title, of.g.Percentiles[k].Rank, p.Rank)
				}
				near(fmt.Sprint("percentile ", p.Rank), float64(p.Value), float64(of.g.Percentiles[k].Value), float64(of.g.PercentileStep))
			}
		}
	}
}

// TestTextOptions checks what the lines before the results say of each job.
func TestTextOptions(t *testing.T) {
	for name, want := range map[string][]string{
		"2.1-mixed.normal": {"rw=randrw bs=4096 numjobs=1", "rw=randwrite bs=16384 numjobs=2", "rw=randwrite bs=16384 numjobs=2", "rw=read bs=65536 numjobs=1"},
		"3.33-mixed":       {"rw=randrw bs=4096 numjobs=1", "rw=randwrite bs=16384 numjobs=2", "rw=randwrite bs=16384 numjobs=2", "rw=read bs=65536 numjobs=1"},
		"3.42-group":       {"rw=randrw bs=8192 numjobs=4"},
	} {
		var got []string
		for _, j := range oneReport(t, only(fioText(t, name), fiolog.Normal)).Jobs {
			got = append(got, fmt.Sprintf("rw=%s bs=%s numjobs=%s", j.Options["rw"], j.Options["bs"], j.Options["numjobs"]))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s -want +got:\n%s", name, d)
		}
	}
	const header = ": (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth="
	sum := oneReport(t, "a"+header+"1\nb"+header+"8\nfio-2.8\na: (groupid=0, jobs=2): err= 0: pid=7: Sat Nov 21 03:15:56 2026\n").Jobs[0]
	if want := map[string]string{"rw": "read", "bs": "4096", "ioengine": "sync"}; !sum.IsSum || !maps.Equal(sum.Options, want) {
		t.Errorf("sum of sections %v: %v, want %v", sum.IsSum, sum.Options, want)
	}
}

// TestTextOfClients: fio --client prints jobs without their hosts, and their sum, which is no job.
func TestTextOfClients(t *testing.T) {
	for _, format := range []fiolog.Format{fiolog.Normal, fiolog.Terse} {
		r := oneReport(t, only(fioText(t, "3.33-client"), format))
		if len(r.Jobs) != 2 || r.Jobs[0].Name != "a" || r.Jobs[1].Name != "b" || r.Jobs[0].Options["rw"] != map[fiolog.Format]string{fiolog.Normal: "randread"}[format] {
			t.Errorf("%v: %d jobs, %v", format, len(r.Jobs), r.Jobs[0].Options)
		}
	}
}

// TestTextOfFio2 checks a text of fio 2.1, which has no JSON of the same run, by hand.
func TestTextOfFio2(t *testing.T) {
	normal := oneReport(t, fioText(t, "2.1-mixed.normal"))
	read := &normal.Jobs[0].Directions[fiolog.Read]
	p99 := read.Clat.Percentiles[12]
	if read.TotalIOs != 62051 || read.IOBytes != 62051*4096 || read.Runtime != 1010 || read.Clat.Max != 48_240_000 || p99 != (fiolog.Percentile{99, 2000}) {
		t.Errorf("%+v", read)
	}
	terse := oneReport(t, fioText(t, "2.1-mixed.terse"))
	if s := &terse.Jobs[3].Directions[fiolog.Read]; terse.Version != "fio-2.1" || s.IOBytes != 32<<20 || !s.Uncounted {
		t.Errorf("%s %+v", terse.Version, s)
	}
}

// TestTextInNoise puts other text around and between the lines of fio.
func TestTextInNoise(t *testing.T) {
	text := only(fioText(t, "3.33-mixed"), fiolog.Normal)
	want := oneReport(t, text)
	same := cmpopts.IgnoreFields(fiolog.Report{}, "Line", "Bytes", "Memory")
	for name, other := range map[string]string{
		"prompt and warnings": "$ fio mixed.fio > out\nnote: both iodepth >= 1 and synchronous I/O engine are selected\n" + text + "$ \n",
		"CR LF":               strings.ReplaceAll(text, "\n", "\r\n"),
		"quoted":              "He wrote:\n> " + strings.ReplaceAll(text, "\n", "\n> "),
		"log of CI":           "2026-11-24T22:41:05.1234567Z " + strings.ReplaceAll(text, "\n", "\n2026-11-24T22:41:05.1234567Z "),
		"times in brackets":   "[2026-11-24T22:41:05.123Z] " + strings.ReplaceAll(text, "\n", "\n[2026-11-24T22:41:05.123Z] "),
		"times":               "22:41:05.123  " + strings.ReplaceAll(text, "\n", "\n22:41:05.123  "),
		"progress":            strings.Replace(text, "\nfirst: (groupid", "Jobs: 1 (f=1): [r(1)][25.0%][eta 00m:03s]\rJobs: 1 (f=1)\r\nfio: a warning\nfirst: (groupid", 1),
		"long progress":       strings.Replace(text, "\nfirst: (groupid", strings.Repeat("Jobs: 1 (f=1): [r(1)][eta 00m:03s]\r", 9000)+"\nfirst: (groupid", 1),
		"other braces":        "{\n" + text + "}\n",
	} {
		if d := cmp.Diff(want, oneReport(t, other), same, sameLayout); d != "" {
			t.Errorf("%s -want +got:\n%s", name, d)
		}
	}
	if got := oneReport(t, fioText(t, "3.33-terminal.normal")); len(got.Jobs) != 1 || got.Jobs[0].Directions[fiolog.Read].TotalIOs == 0 || got.Jobs[0].Options["bs"] != "4096" {
		t.Errorf("from a terminal: %+v", got)
	}
}

// TestTextReports checks which parts of a text are one report: each report as its format, jobs, processes and requests or KiB.
func TestTextReports(t *testing.T) {
	const (
		header  = "a: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\nfio-2.8\nStarting 1 process\n"
		results = "a: (groupid=0, jobs=1): err= 0: pid=%d: Sat Nov 21 03:15:56 2026\n  read : io=40KB, bw=40KB/s, iops=10, runt=  1000msec\n" +
			"    clat (msec): min=3, max=12, avg= 5.73, stdev= 2.37\n     issued    : total=r=%d/w=0/d=0, short=r=0/w=0/d=0\n  cpu          : usr=1.00%%, sys=2.00%%, ctx=3, majf=4, minf=5\nRun status group 0 (all jobs):\n"
	)
	line := func(name string, group, kib, runtime, most int, disk string) string {
		direction := func(kib, runtime, most int) string {
			return fmt.Sprintf(";%d;10;2;%d;0;0;0;0;1;%d;5;1%s;1;%d;5;1;0;0;0%%;0;0", kib, runtime, most, strings.Repeat(";50.000000%=5", 1)+strings.Repeat(";0%=0", 19), most)
		}
		return fmt.Sprintf("3;fio-3.1;%s;%d;0", name, group) + direction(kib, runtime, most) + direction(0, 0, 0) + ";1%;2%;3;4;5" + strings.Repeat(";0%", 29) + disk + "\n"
	}
	const vda, later = ";vda;1;2;3;4;5;6;7;8%", ";vda;9;9;9;9;9;9;9;9%"
	many := fmt.Sprintf(header+results, 7, 10)
	of := func(job string, process, n int) string {
		return strings.Replace(fmt.Sprintf(results, process, n), "a:", job+":", 1)
	}
	beside := func(text string) string { return strings.Replace(text, "Run status group 0 (all jobs):\n", "", 1) } // another job follows
	// Two clients print their headers, their results, and their sum.
	const client = "hostname=vm, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.33, flags=1\n"
	sum := func(lines int) string {
		return fmt.Sprintf("All clients: (groupid=0, jobs=%d): err= 0: pid=0: Sat Nov 21 03:15:56 2026\n  read : io=40KB, bw=40KB/s, iops=10, runt=  1000msec\n", lines)
	}
	twoClients := client + client + "<vm> " + strings.Split(header, "fio-2.8")[0] + "<vm> " + strings.Split(header, "fio-2.8")[0]
	first, second := fmt.Sprintf(results, 7, 10), fmt.Sprintf(results, 8, 20)
	groupOfClient := line("a", 0, 8, 1000, 9, "") + line("b", 1, 9, 1000, 9, "")
	for _, c := range []struct{ name, text, want, faults string }{
		{"clients", twoClients + first + second + sum(2), "normal a/7=10 a/8=20", ""},
		{"clients whose results are mixed", twoClients + beside(first) + second + "Run status group 0 (all jobs):\n" + sum(2), "normal a/7=10 a/8=20", ""},
		{"clients with one process id, as in containers", twoClients + first + fmt.Sprintf(results, 7, 20) + sum(2), "normal a/7=10 a/7=20", ""},
		{"clients, periodic", twoClients + fmt.Sprintf(results, 7, 5) + first + fmt.Sprintf(results, 8, 5) + second + sum(2), "normal a/7=10 a/8=20", ""},
		{"clients with two groups each", twoClients + beside(first) + strings.Replace(of("b", 9, 11), "groupid=0", "groupid=1", 1) + beside(second) +
			strings.Replace(of("b", 10, 12), "groupid=0", "groupid=1", 1) + sum(4), "normal a/7=10 a/8=20 b/9=11 b/10=12", ""},
		{"clients, twice", twoClients + first + second + sum(2) + twoClients + first + second + sum(2), "normal a/7=10 a/8=20, normal a/7=10 a/8=20", ""},
		{"clients, and then a fio alone", twoClients + first + second + sum(2) + many, "normal a/7=10 a/8=20, normal a/7=10", ""},
		{"clients, without the lines before", first + second + sum(2), "normal a/7=10 a/8=20", ""},
		{"clients, cut", twoClients + first + second, "normal a/7=10 a/8=20 doubt", ""},
		{"clients, one of which died", twoClients + first + sum(2), "normal a/7=10 doubt", ""},
		{"clients in terse", groupOfClient + groupOfClient + line("All clients", 1, 34, 1000, 9, ""), "terse a/1=8 a/2=8 b/1=9 b/2=9", ""},
		{"clients in terse, one of which died", groupOfClient + groupOfClient + line("All clients", 1, 51, 1000, 9, ""), "terse a/1=8 a/2=8 b/1=9 b/2=9 doubt", ""},
		{"one", many, "normal a/7=10", ""},
		{"periodic reports", many + fmt.Sprintf(results, 7, 20), "normal a/7=20", ""},
		{"periodic, without the last lines", strings.Replace(many, "Run status", "", 1) + fmt.Sprintf(results, 7, 20), "normal a/7=20", ""},
		{"two executions", many + fmt.Sprintf(header+results, 8, 20), "normal a/7=10, normal a/8=20", ""},
		{"the same results without a header", fmt.Sprintf(results, 7, 10), "normal a/7=10", ""},
		{"JSON after normal output", many + `{"fio version":"fio-3.1","jobs":[{"jobname":"a","usr_cpu":1,"sys_cpu":2,"ctx":3,"read":{"runtime":1000,"iops":10.9,"total_ios":10}}]}`, "json a/0=10", ""},
		{"JSON of a job more, which waits", many + `{"fio version":"fio-3.1","jobs":[{"jobname":"a","usr_cpu":1,"sys_cpu":2,"ctx":3,"read":{"runtime":1000,"iops":10.9,"total_ios":10}},{"jobname":"b"}]}`, "json a/0=10 b/0=0", ""},
		{"JSON behind a text without numbers", strings.Split(many, "  read")[0] + `{"fio version":"fio-3.1","jobs":[{"jobname":"a"}]}`, "json a/0=0", ""},
		{"JSON of another execution", many + `{"fio version":"fio-3.1","jobs":[{"jobname":"j"}]}`, "json j/0=0, normal a/7=10", ""},
		{"broken JSON and normal output", many + "{\n \"fio version\":\"fio-3.1\",\n", "normal a/7=10", "want the rest of the JSON document"},
		{"only a header", header, "", `x.json:3:1: got the end of the file, want the results of job "a"`},
		{"cut", strings.Split(many, "     issued")[0], "normal a/7=0 doubt", ""},
		{"no number", strings.Replace(many, "iops=10", "iops=x1", 1), "normal a/7=10", `x.json:5:35: got "x1", want a number of fio`},
		{"an error of fio", strings.Replace(many, "err= 0", "err= 5 (file:io_u.c:1, func=io_u error, error=Input/output error)", 1), "normal a/7=10 error 5", ""},
		{"terse, one", line("a", 0, 8, 1000, 9, vda), "terse a/1=8", ""},
		{"terse, numjobs", line("a", 0, 8, 1000, 9, vda) + line("a", 0, 9, 1000, 9, vda), "terse a/1=8 a/1=9", ""},
		{"terse, stages", line("a", 0, 8, 1000, 9, vda) + line("b", 1, 9, 1000, 9, vda), "terse a/1=8 b/1=9", ""},
		{"terse, periodic", line("a", 0, 8, 1000, 9, vda) + line("a", 0, 16, 2000, 9, later), "terse a/1=16", ""},
		{"terse, two executions", line("a", 0, 8, 1000, 9, vda) + line("a", 0, 4, 1001, 7, later), "terse a/1=8, terse a/2=4", ""},
		{"terse, no disks", line("a", 0, 8, 1000, 9, "") + line("a", 0, 9, 1001, 9, ""), "terse a/1=8 a/1=9 doubt", ""},
		{"terse, no disks, periodic", line("a", 0, 8, 1000, 9, "") + line("a", 0, 16, 2000, 9, "") + line("a", 0, 17, 2001, 9, ""), "terse a/1=17", ""},
		{"terse behind noise", "fio: a warning\n" + line("a", 0, 8, 1000, 9, vda+";5;3;description"), "terse a/1=8", ""},
		{"terse and normal output", strings.Replace(line("a", 0, 40, 1000, 12000, vda), ";10;2;", ";10;10;", 1) + many, "normal a/7=10", ""},
		{"terse and normal output of two executions", line("a", 0, 8, 1000, 9, vda) + many, "normal a/7=10, terse a/1=8", ""},
		{"two executions with a process id, as in containers", many + many, "normal a/7=10, normal a/7=10", ""},
		{"periodic, of a stage that waited", beside(many) + of("b", 0, 0) + beside(of("a", 7, 10)) + of("b", 8, 20), "normal a/7=10 b/8=20", ""},
		{"periodic, with a stage more", many + strings.Replace(fmt.Sprintf(results, 7, 10), "Run status group 0 (all jobs):\n", strings.Replace(fmt.Sprintf(results, 8, 20), "a:", "b:", 1), 1), "normal a/7=10 b/8=20", ""},
		{"terse, periodic, of fio 3.1, where the run time of a stage grows after its end", line("a", 0, 8, 1000, 9, vda) + line("a", 0, 16, 2000, 9, vda) +
			line("a", 0, 16, 3000, 9, vda) + line("a", 0, 16, 2001, 9, vda), "terse a/1=16", ""},
		{"terse, cut", "3;fio-3.1;a;0;0;1024\n", "", "x.json:1:1: got 6 fields, want the 121 of terse version 3, and those of disks"},
		{"terse, no number", strings.Replace(line("a", 0, 8, 1000, 9, vda), ";10;2;", ";10;b;", 1), "terse a/1=8", `x.json:1:22: got "b", want a whole number`},
	} {
		reports, faults := readReports(strings.NewReader(c.text))
		var got []string
		for _, r := range reports {
			text := r.Format.String()
			for _, j := range r.Jobs {
				n := j.Directions[fiolog.Read].TotalIOs
				if r.Format == fiolog.Terse {
					n = j.Directions[fiolog.Read].IOBytes >> 10
				}
				text += fmt.Sprintf(" %s/%d=%d", j.Name, j.Process, n)
				if j.Error != 0 {
					text += fmt.Sprint(" error ", j.Error)
				}
			}
			if r.Doubt != "" {
				text += " doubt"
			}
			got = append(got, text)
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s: got %s, want %s", c.name, all, c.want)
		}
		if all := strings.Join(faults, "\n"); (all == "") != (c.faults == "") || !strings.Contains(all, c.faults) {
			t.Errorf("%s: got faults %q, want %q", c.name, all, c.faults)
		}
	}
	for _, name := range []string{"3.33-periodic.normal", "3.33-periodic.terse"} {
		if r := oneReport(t, fioText(t, name)); len(r.Jobs) != 2 || r.Jobs[0].Runtime < 3000 {
			t.Errorf("%s: %d jobs, ran %d ms", name, len(r.Jobs), r.Jobs[0].Runtime)
		}
	}
}

// TestTextIsRounded checks sizes that fio rounds, and its unlike units.
func TestTextIsRounded(t *testing.T) {
	text := func(bs, rates string) string {
		return "a: (g=0): rw=read, bs=" + bs + ", ioengine=sync, iodepth=1\n\na: (groupid=0, jobs=1): err= 0: pid=1: Sat Nov 21 03:15:56 2026\n  " + rates +
			"\n     issued rwts: total=1000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
	}
	const one = "(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B"
	for _, c := range []struct {
		name, text string
		bytes      uint64
		bs         string
	}{
		{"one size", text(one, "read: IOPS=1000, BW=4000KiB/s (4096kB/s)(4000KiB/1000msec)"), 4096000, "4096"},
		{"three sizes", text("(R) 4096B-4096B, (W) 8192B-8192B, (T) 512B-512B", "read: IOPS=1000, BW=4000KiB/s (4096kB/s)(4000KiB/1000msec)"), 4096000, "4096,8192,512"},
		{"a range", text("(R) 1024B-64.0KiB, (W) 4096B-4096B, (T) 4096B-4096B", "read: IOPS=1000, BW=30.0MiB/s (31.5MB/s)(30.0MiB/1000msec)"), 30 << 20, ""},
		{"a size that is rounded", text("(R) 9.77KiB-9.77KiB, (W) 9.77KiB-9.77KiB, (T) 9.77KiB-9.77KiB", "read: IOPS=1000, BW=9766KiB/s (10.0MB/s)(9766KiB/1000msec)"), 9766 << 10, ""},
		{"bytes that do not fit", text(one, "read: IOPS=1000, BW=3000KiB/s (3072kB/s)(3000KiB/1000msec)"), 3000 << 10, "4096"},
		{"kb_base=1000", text("(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B", "read: IOPS=1000, BW=4096kB/s (4000KiB/s)(4096kB/1000msec)"), 4096000, "4096"},
		{"fio 2", text("4K-4K/4K-4K/4K-4K", "read : io=4000.0KB, bw=4000.0KB/s, iops=1000, runt=  1000msec"), 4096000, "4096"},
		{"fio 2, no decimals", text("1K-64K/4K-4K/4K-4K", "read : io=30.512MB, bw=1KB/s, iops=1000, runt=  1000msec"), 30 << 20, ""},
	} {
		j := oneReport(t, c.text).Jobs[0]
		if s := &j.Directions[fiolog.Read]; s.IOBytes != c.bytes || s.TotalIOs != 1000 || s.IOPS != 1000 || j.Options["bs"] != c.bs {
			t.Errorf("%s: %d bytes, %d requests, %v IOPS, options %v; want %d bytes, bs %q", c.name, s.IOBytes, s.TotalIOs, s.IOPS, j.Options, c.bytes, c.bs)
		}
	}
}
