package shim

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cbtReads returns what CBT reads of fio's output: the lines after the first one with "Starting", up to the first
// empty line.
func cbtReads(output string) string {
	_, after, _ := strings.Cut(output, "Starting")
	_, after, _ = strings.Cut(after, "\n")
	report, _, _ := strings.Cut(after, "\n\n")
	return report
}

// shape returns a JSON document without its values, and without what the script adds.
func shape(v any) any {
	switch v := v.(type) {
	case map[string]any:
		names := map[string]any{}
		for name, value := range v {
			if name != "bins" && name != "write_hist_log" && name != "log_hist_msec" && name != "log_hist_coarseness" && name != "disk_util" {
				names[name] = shape(value)
			}
		}
		return names
	case []any:
		if len(v) == 0 {
			return "list"
		}
		return []any{len(v), shape(v[0])}
	}
	return ""
}

// TestRealFio runs the fio that FIO2ES_TEST_FIO names, directly and through the script. CBT must read a report of
// the same shape, and the logs must be beside it. After SIGINT, as from killall -2 fio, both are complete.
func TestRealFio(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	const args = " --ioengine=null --size=100g --rw=randrw --rate_iops=500 --runtime=3 --time_based --numjobs=2" +
		" --output-format=json,normal --name=a --name=b > "
	eachShell(t, func(b *bench) {
		if b.shell[0] != "sh" {
			return // other tests run the rest
		}
		if err := os.Remove(filepath.Join(b.dir, "fio")); err != nil {
			b.t.Fatal(err)
		}
		read := func(name string) string {
			text, err := os.ReadFile(filepath.Join(b.run, name))
			if err != nil {
				b.t.Fatal(err)
			}
			// After a signal, fio prints a line before its report at which CBT stops reading.
			_, interrupted, isInterrupted := strings.Cut(string(text), "terminating on signal 2\n")
			if isInterrupted {
				text = []byte("Starting\n" + interrupted)
			}
			var report any
			if err := json.Unmarshal([]byte(cbtReads(string(text))), &report); err != nil {
				b.t.Errorf("%s: CBT cannot read\n%s: %v", name, text, err)
			}
			out, _ := json.Marshal(shape(report))
			return string(out)
		}
		check := func(name, want string, rows int) {
			if got := read(name); got != want {
				b.t.Errorf("%s has another shape:\n%s, want\n%s", name, got, want)
			}
			logs, _ := filepath.Glob(filepath.Join(b.run, name+"_clat_hist.*.log"))
			if len(logs) != 4 {
				b.t.Errorf("%s: logs %q of 4 jobs", name, logs)
			}
			for _, log := range logs {
				if text, _ := os.ReadFile(log); strings.Count(string(text), "\n") < rows {
					b.t.Errorf("%s has %d rows", log, strings.Count(string(text), "\n"))
				}
			}
		}
		b.called(fio + args + "plain")
		want := read("plain")
		for name, env := range map[string][]string{"output.0": nil, "output.1": {"FIO2ES_SHIM_LIVE=1"}} {
			if _, stderr, status := b.called(b.shim()+args+name, append(env, "FIO2ES_SHIM_FIO="+fio)...); status != 0 || stderr != "" {
				b.t.Errorf("status %d, %s", status, stderr)
			}
			check(name, want, 2)
		}
		live, _ := os.ReadFile(filepath.Join(b.run, "live_output.grid1s.1"))
		if n := strings.Count(string(live), "\n{\n"); n < 3 {
			b.t.Errorf("%d reports while it ran", n)
		}

		cmd := b.command("exec " + b.shim() + strings.Replace(args, "--runtime=3", "--runtime=60", 1) + "output.2")
		cmd.Env = append(cmd.Env, "FIO2ES_SHIM_FIO="+fio)
		if err := cmd.Start(); err != nil {
			b.t.Fatal(err)
		}
		for range 600 {
			if text, _ := os.ReadFile(filepath.Join(b.run, "output.2")); strings.Contains(string(text), "Starting") {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(3 * time.Second) // three rows, because on a busy machine the jobs may start late
		cmd.Process.Signal(syscall.SIGINT)
		cmd.Wait()
		check("output.2", want, 0)
	})
}

// TestShape tests the comparison of [TestRealFio].
func TestShape(t *testing.T) {
	of := func(text string) any {
		var v any
		if err := json.Unmarshal([]byte(cbtReads("x\nStarting 2 processes\n"+text+"\n\na: text\n")), &v); err != nil {
			t.Fatal(err)
		}
		return shape(v)
	}
	a, b := of(`{"jobs" : [{"clat_ns" : {"mean" : 1}}]}`).(map[string]any), of(`{"jobs" : [{"clat_ns" : {"mean" : 2, "bins" : {"1" : 2}}}]}`).(map[string]any)
	textOf := func(v any) string { out, _ := json.Marshal(v); return string(out) }
	if textOf(a) != textOf(b) || !slices.Equal(slices.Sorted(maps.Keys(a)), []string{"jobs"}) {
		t.Errorf("%v and %v", a, b)
	}
	if c := of(`{"jobs" : [{"clat_ns" : {}}]}`); textOf(c) == textOf(a) {
		t.Errorf("%v is %v", c, a)
	}
}
