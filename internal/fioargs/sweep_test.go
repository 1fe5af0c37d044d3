package fioargs

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var swept = map[string]string{
	"job.fio":  "# all\n[global]\nblocksize=8k\ninclude part.inc\n[a] ; one\niodepth=4\nsize=1m # of data\nbs=1k\n[global2]\nioengine=io_uring\n[b]\ninclude part.inc\n",
	"more.fio": "[c]\nrw=write", "part.inc": "direct=1\nbs=2k\n", "split.fio": "[a]\nbssplit=4k/50:8k/50\n",
}

// TestCombinations: the last option varies fastest, and values come in the order in which they are given.
func TestCombinations(t *testing.T) {
	c, err := Parse([]string{"job.fio"}, reader(swept))
	if err != nil {
		t.Fatal(err)
	}
	sweeps, err := ParseSweeps([]string{"blocksize=64k, 4k", "rw=read,randrw:8,trim"}, c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, set := range Combinations(sweeps) {
		got = append(got, set[0].Name+"="+set[0].Value+" "+set[1].Name+"="+set[1].Value)
	}
	want := "bs=64k rw=read|bs=64k rw=randrw:8|bs=64k rw=trim|bs=4k rw=read|bs=4k rw=randrw:8|bs=4k rw=trim"
	if diff := cmp.Diff(want, strings.Join(got, "|")); diff != "" {
		t.Error(diff)
	}
	if none := Combinations(nil); len(none) != 1 || len(none[0]) != 0 {
		t.Errorf("without options: %v", none)
	}
	if diff := cmp.Diff([]string{"bs=1k (job.fio:8)", "bs=2k (part.inc:2)"}, c.Differing("bs")); diff != "" || c.Differing("direct") != nil {
		t.Error(diff, c.Differing("direct"))
	}
}

// TestWith: swept options replace those of all jobs, on the command line and in job files. What fio reads from the copies
// of the job files is what the command says.
func TestWith(t *testing.T) {
	set := []Option{{"bs", "64k", "--sweep"}, {"hipri", "1", "--sweep"}}
	for line, want := range map[string]string{
		"fio --bs=4k --name=x --blocksize 8k --output o --name=y --rw=read": "fio --name=x --output o --bs=64k --hipri=1 --name=y --rw=read --bs=64k --hipri=1",
		"sudo fio --readwrite=read --bs=4k job.fio more.fio":                "sudo fio --readwrite=read job.fio more.fio",
	} {
		c, err := Parse(strings.Fields(line), reader(swept))
		if err != nil {
			t.Fatal(err)
		}
		before := text(c)
		with := c.With(set)
		if diff := cmp.Diff(want, strings.Join(with.Words(), " ")); diff != "" {
			t.Error(diff)
		}
		copies := maps.Clone(swept)
		for _, name := range c.Files() {
			if copies[name], err = Movable(name, []byte(swept[name]), set, reader(swept)); err != nil {
				t.Fatal(err)
			}
		}
		delete(copies, "part.inc") // a copy has what the file includes
		again, err := Parse(with.Words(), reader(copies))
		if err != nil {
			t.Fatal(err)
		}
		settings := func(c *Command) (list []string) {
			for _, s := range c.Jobs {
				list = append(list, fmt.Sprint(s.Name, s.Map()))
			}
			return list
		}
		if diff := cmp.Diff(settings(with), settings(again)); diff != "" {
			t.Error(diff)
		}
		for _, s := range again.Jobs {
			if m := s.Map(); m["bs"] != "64k" || m["hipri"] != "1" {
				t.Errorf("%s: %v", s.Name, m)
			}
		}
		if text(c) != before {
			t.Error("the command of the user changed")
		}
	}
	got, err := Movable("job.fio", []byte(swept["job.fio"]), set, reader(swept))
	want := "[global]\ndirect=1\n[a]\niodepth=4\nsize=1m\nbs=64k\nhipri=1\n[global2]\nioengine=io_uring\n[b]\ndirect=1\nbs=64k\nhipri=1\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := Movable("job.fio", []byte("[a]\ninclude none\n"), nil, reader(swept)); err == nil {
		t.Error("an included file that does not exist")
	}
}

func TestNotSwept(t *testing.T) {
	for _, tt := range []struct{ line, sweeps, want string }{
		{"job.fio", "bs", "want an option of fio's jobs and its values"},
		{"job.fio", "=4k", "want an option of fio's jobs and its values"},
		{"job.fio", "bs=4k,", "want an option of fio's jobs and its values"},
		{"job.fio", "bs=4k,4k", "bs=4k,4k: 4k twice"},
		{"job.fio", "bs=4k bs=8k", "bs=8k: there is already a sweep of bs"},
		{"more.fio", "bs=4k bssplit=4k/50:8k/50", "there is already a sweep of bs"},
		{"job.fio", "verify_pattern=a#b", "a job file can have no value with ; or #"},
		{"job.fio", "status-interval=1,2", "it is an option of fio itself"},
		{"job.fio", "write_bw_log=a", "it does not change what fio measures"},
		{"job.fio", "timeout=10", "it does not change what fio measures"},
		{"job.fio", "filename=/dev/sda,/dev/sdb", "it names files"},
		{"fio --profile=act", "bs=4k", "fio takes its jobs from a profile"},
		{"split.fio", "bs=4k", "split.fio:2: [a] sets bssplit, which is the same setting under another name, or overrides it: remove it"},
		{"fio --name=a --buffered=1", "direct=0,1", "command line: [a] sets buffered"},
	} {
		c, err := Parse(strings.Fields(tt.line), reader(swept))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseSweeps(strings.Fields(tt.sweeps), c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.sweeps, err, tt.want)
		}
	}
}
