package fioargs

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reader returns a function that reads files of a test.
func reader(files map[string]string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		return []byte(text), nil
	}
}

func init() { os.Setenv("DEV", "/dev/sdx") }

// text writes the sections of a command, with the effective options of each.
func text(c *Command) string {
	var b strings.Builder
	for _, s := range c.Jobs {
		fmt.Fprintf(&b, "[%s] %s:", s.Name, s.At)
		for i, o := range s.Options {
			if now, _ := s.Get(o.Name); now == o || last2(s.Options[i+1:], o.Name) {
				fmt.Fprintf(&b, " %s=%s", o.Name, o.Value)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func last2(options []Option, name string) bool {
	_, ok := (&Section{Options: options}).Get(name)
	return !ok
}

var files = map[string]string{
	"job.fio": `; a comment
[global]
bs=4k # behind an option
rw=randread
write_hist_log=mine

[one]
numjobs=2
  iodepth = 16
include more.fio
[two]
stonewall
bs=8k
filename=${DEV}
[global]
bs=1m
[three]
time_based
`,
	"more.fio":   "runtime=5m\n# end\n",
	"other.fio":  "[x]\nrw=write\n",
	"loop.fio":   "[x]\ninclude loop2.fio\n",
	"loop2.fio":  "include loop2.fio\n",
	"nested.fio": "[x]\ninclude other.fio\n",
	"early.fio":  "bs=4k\n[x]\n",
	"open.fio":   "[x\n",
	"dir/in.fio": "[x]\ninclude part.inc\n", "dir/part.inc": "bs=2k\n",
}

func TestCommand(t *testing.T) {
	for _, tt := range []struct {
		name, line, want string
	}{
		{"options of all jobs, then jobs", "fio --bs=4k --rw randwrite --name=a --numjobs=3 --name=b --bs=8k",
			"[a] command line: bs=4k rw=randwrite numjobs=3\n[b] command line: rw=randwrite bs=8k\n"},
		{"one dash, a switch and its value", "fio -name=a -time_based --direct 1 --group_reporting",
			"[a] command line: time_based= direct=1 group_reporting=\n"},
		{"a global section", "fio --name=global --bs=4k --name=a --readwrite=read", "[a] command line: bs=4k rw=read\n"},
		{"a job file, global sections, an included file", "fio job.fio",
			"[one] job.fio:7: bs=4k rw=randread write_hist_log=mine numjobs=2 iodepth=16 runtime=5m\n" +
				"[two] job.fio:11: rw=randread write_hist_log=mine stonewall= bs=8k filename=/dev/sdx\n" +
				"[three] job.fio:17: rw=randread write_hist_log=mine bs=1m time_based=\n"},
		{"the command line sets what the first file does not", "fio --log_hist_msec=1000 --bs=64k other.fio job.fio --section=x",
			"[x] other.fio:1: log_hist_msec=1000 bs=64k rw=write\n" +
				"[one] job.fio:7: bs=4k rw=randread write_hist_log=mine stonewall= numjobs=2 iodepth=16 runtime=5m\n" +
				"[two] job.fio:11: rw=randread write_hist_log=mine stonewall= bs=8k filename=/dev/sdx\n" +
				"[three] job.fio:17: rw=randread write_hist_log=mine bs=1m time_based=\n"},
		{"sections that are left out", "fio job.fio --section=three --section two",
			"[two] job.fio:11: rw=randread write_hist_log=mine stonewall= bs=8k filename=/dev/sdx\n" +
				"[three] job.fio:17: rw=randread write_hist_log=mine bs=1m time_based=\n"},
		{"a file included from its folder", "fio dir/in.fio", "[x] dir/in.fio:1: bs=2k\n"},
		{"after --", "fio --bs=4k -- other.fio", "[x] other.fio:1: bs=4k rw=write\n"},
		{"a job file alone", "other.fio", "[x] other.fio:1: rw=write\n"},
		{"options alone", "--name=a --rw=read", "[a] command line: rw=read\n"},
		{"what starts fio", "sudo -E /opt/fio-3.36 other.fio", "[x] other.fio:1: rw=write\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Parse(strings.Fields(tt.line), reader(files))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, text(c)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIsJobFile(t *testing.T) {
	for text, want := range map[string]bool{
		"[global]\nbs=4k\n": true, "; x\n# y\n\n [a]\n": true, "": false, "{\"fio version\" : 1}": false, "[1, 2]\n": true,
		"1000, 0, 4096, 1\n": false, "bs=4k\n[a]\n": false, "[{\n": false,
	} {
		if IsJobFile([]byte(text)) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}

func TestRefused(t *testing.T) {
	for line, want := range map[string]string{
		"":                        "no fio in the command",
		"sh -c x":                 "no fio in the command",
		"fio nowhere.fio":         "nowhere.fio: file does not exist",
		"fio --name":              "--name: its value is missing",
		"fio --output-f=json x":   "--output-f=json: write the option out: --output-format",
		"fio --write_hist=x":      "--write_hist=x: write the option out: --write_hist_log",
		"fio -o x":                "-o: write the option out",
		"fio loop.fio":            "loop2.fio:1: files include one another",
		"fio nested.fio":          "other.fio:1: [x]: an included file has options only",
		"fio early.fio":           `early.fio:1:1: got "bs=4k", want a section such as [global]`,
		"fio open.fio":            `open.fio:1:3: got the end of the line, want "]"`,
		"fio --name=a --status-i": "--status-i: write the option out: --status-interval",
	} {
		if _, err := Parse(strings.Fields(line), reader(files)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestArgs(t *testing.T) {
	c, err := Parse(strings.Fields("sudo fio --output out.txt --minimal other.fio --output=b --eta=never -name=a --direct 1"), reader(files))
	if err != nil {
		t.Fatal(err)
	}
	want := []Arg{
		{[]string{"--output", "out.txt"}, "output", "out.txt", true}, {[]string{"--minimal"}, "minimal", "", true},
		{[]string{"other.fio"}, "", "other.fio", false}, {[]string{"--output=b"}, "output", "b", true},
		{[]string{"--eta=never"}, "eta", "never", true}, {[]string{"-name=a"}, "name", "a", false},
		{[]string{"--direct", "1"}, "direct", "1", false},
	}
	if diff := cmp.Diff(want, c.Args); diff != "" {
		t.Error(diff)
	}
	if o, ok := c.Own("output"); !ok || o.Value != "b" {
		t.Errorf("--output is %q", o.Value)
	}
	if _, ok := c.Own("name"); ok {
		t.Error("--name is of a job")
	}
	if got, want := strings.Join(c.Words(), " "), "sudo fio --output out.txt --minimal other.fio --output=b --eta=never -name=a --direct 1"; got != want {
		t.Errorf("words %s", got)
	}
	if diff := cmp.Diff([]string{"sudo"}, c.Before); diff != "" || c.Program != "fio" {
		t.Error(diff, c.Program)
	}
}

func TestSection(t *testing.T) {
	c, err := Parse([]string{"fio", "a.fio"}, reader(map[string]string{"a.fio": `
[plain]
[bare]
write_hist_log
write_lat_log=x
write_bw_log
disable_clat=1
disable_clat=0
[named]
write_hist_log=a/b
numjobs=0x10
gtod_reduce
`}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Jobs {
		prefix, ok := s.HistogramLog()
		o, none := s.NoLatencies()
		got = append(got, fmt.Sprint(s.Name, " ", prefix, " ", ok, " ", s.Jobs(), " ", s.WritesLogs(), " ", none, o.At))
	}
	want := []string{"plain  false 1 false false", "bare bare true 1 true false", "named a/b true 16 true truea.fio:12"}
	if diff := cmp.Diff(want, got); diff != "" || c.NumJobs() != 18 {
		t.Error(diff, c.NumJobs())
	}
}

func TestValues(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"30": 30 * time.Second, "5m": 5 * time.Minute, "2H": 2 * time.Hour, "100ms": 100 * time.Millisecond,
		"": 0, "x": 0, "-5": 0, "5y": 0, "9999999999999d": 0,
		"100msec": 100 * time.Millisecond, "9usec": 9 * time.Microsecond, "2min": 0,
	} {
		if got := (Option{Value: value}).Time(); got != want {
			t.Errorf("%s: %v, want %v", value, got, want)
		}
	}
	for value, want := range map[string]int{"16": 16, "4k": 4096, "x": 7, "": 7} {
		if got := (Option{Value: value}).Int(7); got != want {
			t.Errorf("%s: %v, want %v", value, got, want)
		}
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"fio-3.33\n": {3, 33}, "fio-3.36-17-g1a2b-dirty": {3, 36}, "fio-2.2.10": {2, 2}, "3.33": {}, "fio-x": {}, "": {},
	} {
		got, err := ParseVersion(text)
		if got != want || (err == nil) != (want != Version{}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if (Version{2, 99}).Before(Version{2, 14}) || !(Version{2, 2}).Before(HasHistogramLogs) || !(Version{3, 35}).Before(HasJobStart) {
		t.Error("the order of versions")
	}
}

func FuzzCommand(f *testing.F) {
	f.Add("fio\njob.fio\n--bs=4k", files["job.fio"])
	f.Add("sudo\nfio\n--output\nx\n--\nyou.fio", "[a]\ninclude job.fio\n${DEV")
	f.Fuzz(func(t *testing.T, line, file string) {
		read := func(string) ([]byte, error) { return []byte(file), nil }
		c, err := Parse(strings.Split(line, "\n"), read)
		if err != nil {
			return
		}
		words := append(append([]string{}, c.Before...), c.Program)
		for _, a := range c.Args {
			if a.Name != "" {
				words = append(words, a.Words...)
			}
		}
		words = append(append(words, "--"), c.Files()...) // after "--", because names of files may begin with a dash
		again, err := Parse(words, read)
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		if c.NumJobs() < len(c.Jobs) || text(again) != text(c) {
			t.Errorf("%q: %q, again %q", words, text(c), text(again))
		}
	})
}
