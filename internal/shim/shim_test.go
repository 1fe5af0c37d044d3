package shim

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/golden"
)

// fakeFio records its arguments, its process, and the name by which killall finds it.
const fakeFio = `#!/bin/sh
here=${0%/*}
[ "$1" != --version ] || { cat "$here/version"; exit; }
{ echo $$; cat /proc/$$/comm; } > "$here/process"
for arg do printf '%s\n' "$arg"; done > "$here/args"
printf 'Starting 1 process\n{\n  "fio version" : "fio-3.33"\n}\n\njob: (groupid=0)\n'
exit 7
`

// fakeSudo removes the environment, as sudo does.
const fakeSudo = "#!/bin/sh\nexec env -i \"PATH=$PATH\" \"$@\"\n"

// bench is a machine with a fake fio.
type bench struct {
	t      *testing.T
	shell  []string
	dir    string // of the programs
	run    string // of the results
	script string
}

// shells returns the shells of this machine, each once, because sh is often one of the others.
func shells(t *testing.T) (found [][]string) {
	var programs []string
	for _, s := range [][]string{{"sh"}, {"dash"}, {"busybox", "sh"}, {"bash"}} {
		named, err := exec.LookPath(s[0])
		if err != nil {
			continue
		}
		if program, err := filepath.EvalSymlinks(named); err == nil && !slices.Contains(programs, program) {
			programs, found = append(programs, program), append(found, s)
		}
	}
	if _, err := os.Stat("/proc/self/fd/1"); err != nil || len(found) == 0 {
		t.Skip("there is no shell or no /proc here")
	}
	return found
}

// eachShell runs a test with each shell.
func eachShell(t *testing.T, test func(b *bench)) {
	for _, shell := range shells(t) {
		t.Run(shell[0], func(t *testing.T) {
			b := &bench{t: t, shell: shell, dir: t.TempDir(), run: t.TempDir()}
			b.script = b.program("fio2es-fio", Script)
			b.program("fio", fakeFio)
			b.program("sudo", fakeSudo)
			b.program("hostname", "#!/bin/sh\necho client1\n")
			b.write(filepath.Join(b.dir, "version"), "fio-3.33\n")
			test(b)
		})
	}
}

func (b *bench) write(path, text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) program(name, text string) string {
	path := filepath.Join(b.dir, name)
	b.write(path, text)
	if err := os.Chmod(path, 0o755); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// command returns a command that runs in the shell, with the programs of the bench.
func (b *bench) command(line string) *exec.Cmd {
	cmd := exec.Command(b.shell[0], append(slices.Clone(b.shell[1:]), "-c", line)...)
	cmd.Dir = b.run
	cmd.Env = []string{"PATH=" + b.dir + ":" + os.Getenv("PATH")}
	return cmd
}

// shim returns the command that runs the script.
func (b *bench) shim() string { return strings.Join(b.shell, " ") + " " + b.script }

// called runs a command line. It returns the arguments that fio got, the text on stderr, and the exit status.
func (b *bench) called(line string, env ...string) (args []string, stderr string, status int) {
	b.t.Helper()
	os.Remove(filepath.Join(b.dir, "args"))
	cmd := b.command(line)
	cmd.Env = append(cmd.Env, env...)
	var messages strings.Builder
	cmd.Stderr = &messages
	cmd.Run() // the exit status is checked instead
	return b.lines("args"), messages.String(), cmd.ProcessState.ExitCode()
}

// lines returns the lines of a file that fio wrote.
func (b *bench) lines(name string) []string {
	text, _ := os.ReadFile(filepath.Join(b.dir, name))
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// TestCBT runs the script with all command lines of CBT. fio gets the arguments of CBT, and in addition only those
// in the golden file. What CBT reads is the same, byte for byte.
func TestCBT(t *testing.T) {
	first := ""
	eachShell(t, func(b *bench) {
		var got strings.Builder
		for i, c := range cbtCommands(b.t) {
			run := filepath.Join(b.run, fmt.Sprint(i))
			_, to, _ := strings.Cut(c.line, "> ")
			to, _, _ = strings.Cut(to, " ")
			output := strings.Replace(to, "/RUN", run, 1)
			if strings.HasPrefix(to, "/RUN") {
				b.write(output, "")
			}
			line := strings.ReplaceAll(c.line, "/RUN", run)
			plain, _, _ := b.called(strings.Replace(line, "CMD", filepath.Join(b.dir, "fio"), 1))
			want, _ := os.ReadFile(output)
			args, _, status := b.called(strings.Replace(line, "CMD", b.shim(), 1))
			have, _ := os.ReadFile(output)
			if string(have) != string(want) || status != 7 {
				b.t.Errorf("%s: status %d, stdout\n%s, without the script\n%s", c.line, status, have, want)
			}
			if b.lines("process")[1] != "fio" {
				b.t.Errorf("%s: killall knows the process as %q", c.line, b.lines("process")[1])
			}
			fmt.Fprintf(&got, "%s\n", c.name)
			for _, arg := range args {
				if i := slices.Index(plain, arg); i >= 0 {
					plain = slices.Delete(plain, i, i+1)
					continue
				}
				fmt.Fprintf(&got, "\t+ %s\n", strings.ReplaceAll(arg, run, "/RUN"))
			}
			for _, arg := range plain {
				fmt.Fprintf(&got, "\t- %s\n", arg)
			}
		}
		if first == "" {
			first = got.String()
			golden.File(b.t, filepath.Join("testdata", "cbt.golden"), first)
		}
		if got.String() != first {
			b.t.Errorf("it does otherwise than with the first shell:\n%s", &got)
		}
	})
}

// cbtCommand is a line of testdata/cbt.txt.
type cbtCommand struct{ name, line string }

func cbtCommands(t *testing.T) (all []cbtCommand) {
	f, err := os.Open(filepath.Join("testdata", "cbt.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, line, ok := strings.Cut(lines.Text(), ": "); ok && !strings.HasPrefix(name, "#") {
			all = append(all, cbtCommand{name, line})
		}
	}
	return all
}

// TestExec: fio replaces the process of the script. So signals reach fio, and the caller waits for fio.
func TestExec(t *testing.T) {
	eachShell(t, func(b *bench) {
		out, err := os.Create(filepath.Join(b.run, "output.0"))
		if err != nil {
			b.t.Fatal(err)
		}
		defer out.Close()
		cmd := b.command("exec " + b.shim() + " --name=a")
		cmd.Stdout = out
		cmd.Run()
		if got := b.lines("process")[0]; got != fmt.Sprint(cmd.Process.Pid) {
			b.t.Errorf("fio was process %s, want %d", got, cmd.Process.Pid)
		}
	})
}

// TestAside: in unusual cases fio gets unchanged arguments, the status and the output of the script are those of
// fio, and stderr has the reason.
func TestAside(t *testing.T) {
	eachShell(t, func(b *bench) {
		b.write(filepath.Join(b.run, "own.fio"), "[global]\n write_hist_log=x\n[a]\n")
		b.write(filepath.Join(b.run, "packed.fio"), "[global]\nlog_store_compressed=1\n[a]\n")
		bare := filepath.Join(b.dir, "bare") // a PATH without readlink
		if err := os.MkdirAll(bare, 0o755); err != nil {
			b.t.Fatal(err)
		}
		for _, c := range []struct {
			name, line string // @ stands for the script, or for fio
			why        string // part of stderr
		}{
			{"prefill", "@ --output-format=json --name=a > /dev/null", ""},
			{"pipe", "@ --output-format=json --name=a | cat", "does not go to a file"},
			{"closed", "@ --output-format=json --name=a >&-", "does not go to a file"},
			{"append", "echo x > o1; @ --output-format=json --name=a >> o1", "not empty"},
			{"deleted", "exec > o2; rm o2; @ --output-format=json --name=a", "does not go to a file"},
			{"replaced", "exec > o3; mv o3 o4; : > o3; rm o4; @ --output-format=json --name=a", "does not go to a file"},
			{"quote", "@ --output-format=json --name=a > \"o'5\"", "unusual characters"},
			{"line end", "@ --output-format=json --name=a > 'o\n5'", "unusual characters"},
			{"client", "@ --client=host --output-format=json a.fio > o6", "--client=host"},
			{"client, apart", "@ --client host --output-format=json a.fio > o6", "--client"},
			{"server", "@ --server > o6", "--server"},
			{"server, one dash", "@ -server > o6", "-server"},
			{"own report", "@ --output=x.json --output-format=json a.fio > o7", "--output=x.json"},
			{"own log", "@ --write_hist_log=x --name=a > o8", "--write_hist_log=x"},
			{"own interval", "@ --name=a --log_hist_msec=100 > o9", "--log_hist_msec=100"},
			{"own log in a file", "@ own.fio > o10", "own.fio"},
			{"compressed", "@ --log_store_compressed=1 --name=a > o11", "--log_store_compressed=1"},
			{"compressed, in a file", "@ packed.fio > o12", "packed.fio"},
			{"help", "@ --cmdhelp=all > o13", "--cmdhelp=all"},
			{"no readlink, as without /proc", "PATH=" + bare + "; FIO2ES_SHIM_FIO=" + b.dir + "/fio; export FIO2ES_SHIM_FIO; @ --name=a > o14", "does not go to a file"},
			{"fio 2", "echo fio-2.99 > " + b.dir + "/version; @ --output-format=json --name=a > o15", "not fio 3 or later"},
			{"no version", ": > " + b.dir + "/version; @ --output-format=json --name=a > o16", "not fio 3 or later"},
		} {
			shell, _ := exec.LookPath(b.shell[0])
			shim := strings.Join(append([]string{shell}, b.shell[1:]...), " ") + " " + b.script
			want, _, _ := b.called(strings.ReplaceAll(c.line, "@", b.dir+"/fio"))
			for _, name := range []string{"o1", "o3", "o4"} {
				os.Remove(filepath.Join(b.run, name))
			}
			got, stderr, status := b.called(strings.ReplaceAll(c.line, "@", shim))
			if !slices.Equal(got, want) || len(got) == 0 {
				b.t.Errorf("%s: fio got %q, want %q", c.name, got, want)
			}
			if status != 7 && !strings.Contains(c.line, "|") {
				b.t.Errorf("%s: status %d", c.name, status)
			}
			if !strings.Contains(stderr, c.why) || c.why == "" && stderr != "" {
				b.t.Errorf("%s: stderr has %q, want %q", c.name, stderr, c.why)
			}
		}
	})
}

// TestHidden: a benchmark would fail if it collects logs that the reader of the report cannot read, so the script
// avoids this.
func TestHidden(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs files of another user")
	}
	eachShell(t, func(b *bench) {
		output := filepath.Join(b.run, "output.0")
		b.write(output, "")
		if err := os.Chown(output, 1, 1); err != nil {
			b.t.Fatal(err)
		}
		for umask, added := range map[string]bool{"022": true, "077": false, "027": false} {
			args, _, _ := b.called("umask " + umask + "; : > output.0; " + b.shim() + " --name=a > output.0")
			if got := len(args) > 1; got != added {
				b.t.Errorf("umask %s: fio got %q", umask, args)
			}
		}
	})
}

// TestSilent: messages of the script are never in a report.
func TestSilent(t *testing.T) {
	eachShell(t, func(b *bench) {
		b.called(b.shim() + " --write_hist_log=x --name=a > o 2>&1")
		text, _ := os.ReadFile(filepath.Join(b.run, "o"))
		if !strings.HasPrefix(string(text), "Starting 1 process\n{") {
			b.t.Errorf("the report has %q", text)
		}
	})
}

// TestAdds: which arguments fio gets if the script adds some.
func TestAdds(t *testing.T) {
	eachShell(t, func(b *bench) {
		b.write(filepath.Join(b.run, "a.fio"), "[a]\n# write_hist_log\n")
		b.write(filepath.Join(b.dir, "other", "fio"), fakeFio)
		log := "--write_hist_log=" + b.run + "/o --log_hist_msec="
		for _, c := range []struct {
			env, args, want string
		}{
			{"", "a.fio", log + "1000 a.fio"},
			{"", "--output-format=json a.fio", log + "1000 --output-format=json+ a.fio"},
			{"", "--output-format=normal,json a.fio", log + "1000 --output-format=normal,json+ a.fio"},
			{"", "--output-format=terse,json,normal a.fio", log + "1000 --output-format=terse,json+,normal a.fio"},
			{"", "-output-format=json a.fio", log + "1000 -output-format=json+ a.fio"},
			{"", "--output-format=json+ a.fio", log + "1000 --output-format=json+ a.fio"},
			{"", "--output-format=normal a.fio", log + "1000 --output-format=normal a.fio"},
			{"", "--status-interval=1 --output-format=json a.fio", log + "1000 --status-interval=1 --output-format=json a.fio"},
			{"", "--name='a b' --filename=* --exec_prerun='x \"y\"'", log + "1000 --name=a b --filename=* --exec_prerun=x \"y\""},
			{"FIO2ES_SHIM_MSEC=250", "a.fio", log + "250 --log_hist_coarseness=2 a.fio"},
			{"FIO2ES_SHIM_MSEC=5000", "--runtime=60 a.fio", log + "5000 --runtime=60 a.fio"},
			{"", "--runtime=60 a.fio", log + "1000 --runtime=60 a.fio"},
			{"FIO2ES_SHIM_MSEC=fast", "a.fio", log + "1000 a.fio"},
			{"", "--runtime=1 --name=a", log + "100 --log_hist_coarseness=2 --runtime=1 --name=a"},
			{"", "--runtime=080 --name=a", log + "1000 --runtime=080 --name=a"},
			{"", "--runtime=99999999999999999999 --name=a", log + "1000 --runtime=99999999999999999999 --name=a"},
			{"", "--name=a --exec_prerun='x --output-format=json y'", log + "1000 --name=a --exec_prerun=x --output-format=json y"},
			{"", "--runtime=99d --name=a", log + "1000 --runtime=99d --name=a"},
			{"", "--clientname=admin --name=client --name=server --output-format=json", log + "1000 --clientname=admin --name=client --name=server --output-format=json+"},
		} {
			var env []string
			if c.env != "" {
				env = append(env, c.env)
			}
			args, stderr, _ := b.called(b.shim()+" "+c.args+" > o", env...)
			if got := strings.Join(args, " "); got != c.want || stderr != "" {
				b.t.Errorf("%s %s: fio got\n%s, want\n%s; stderr %q", c.env, c.args, got, c.want, stderr)
			}
		}
	})
}

// TestRows: the time between rows follows from the options alone, and is what fio2es run and doctor choose.
func TestRows(t *testing.T) {
	eachShell(t, func(b *bench) {
		b.write(filepath.Join(b.run, "a.fio"), "[a]\n")
		for args, want := range map[string]string{
			"--runtime=1718 --name=a":                                     "100",
			"--runtime=1719 --name=a":                                     "250",
			"--rw=randrw --runtime=859 --name=a":                          "100",
			"--name=a --readwrite=rw:2 --runtime=860":                     "250",
			"--rw=trimwrite --runtime=430 --numjobs=8 --name=a":           "500",
			"--rw=randwrite --runtime=430 --numjobs=10 --name=a":          "500",
			"--rw=read --runtime=300 --numjobs=57 --name=a":               "1000",
			"--rw=randtrim --runtime=300 --numjobs=58 --name=a":           "2000",
			"--runtime=999999999 --numjobs=8 --name=a --name=b":           "931262000",
			"--runtime=60 --name=a --numjobs=8 --name=b --name=c --rw=rw": "250",
			"--name=a --numjobs=8":                                        "1000",
			"--runtime=60 --numjobs=999999 --name=a":                      "1000",
		} {
			got, stderr, _ := b.called(b.shim() + " " + args + " > o")
			if len(got) < 3 || got[1] != "--log_hist_msec="+want || (got[2] == "--log_hist_coarseness=2") != (len(want) < 4) ||
				strings.Contains(stderr, "in memory") != (len(want) > 3 && want != "1000") {
				b.t.Errorf("%s: fio got %q, want %s; stderr has %q", args, got, want, stderr)
			}
			c, err := fioargs.Parse(strings.Fields("fio "+args), nil)
			if err != nil {
				b.t.Fatal(err)
			}
			msec, _ := strconv.ParseInt(want, 10, 64)
			of := fioargs.RowsOf(c.Jobs).Every.Milliseconds()
			if isAlone := strings.Count(args, "--name") == 1; of != min(msec, 1000) && (isAlone || of > msec) {
				b.t.Errorf("%s: fio2es run has %d, want %s", args, of, want)
			}
		}
		if got, _, _ := b.called(b.shim()+" --runtime=60 --name=a --output-format=json > o", "FIO2ES_SHIM_LIVE=1"); !slices.Contains(got, "--log_hist_msec=1000") {
			b.t.Errorf("live: fio got %q", got)
		}
	})
}

// TestName: the script may be called fio and be first in PATH. If there is no fio, it says so.
func TestName(t *testing.T) {
	eachShell(t, func(b *bench) {
		first := filepath.Join(b.dir, "first")
		b.write(filepath.Join(first, "fio"), Script)
		if err := os.Chmod(filepath.Join(first, "fio"), 0o755); err != nil {
			b.t.Fatal(err)
		}
		args, _, status := b.called("PATH=" + first + ":$PATH; fio --name=a > o")
		if len(args) != 3 || status != 7 {
			b.t.Errorf("fio got %q, status %d", args, status)
		}
		os.Remove(filepath.Join(b.dir, "fio"))
		shell, _ := exec.LookPath(b.shell[0])
		cmd := exec.Command(shell, append(slices.Clone(b.shell[1:]), b.script, "--name=a")...)
		cmd.Env = []string{"PATH=" + b.dir}
		text, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 127 || !strings.Contains(string(text), "there is no fio in "+b.dir) {
			b.t.Errorf("without fio: status %d, %q", cmd.ProcessState.ExitCode(), text)
		}
	})
}

// liveFio writes reports to the file of --output, like fio with --status-interval. It ends with the second report,
// or at a signal.
const liveFio = `#!/bin/sh
here=${0%/*}
[ "$1" != --version ] || { echo fio-3.33; exit; }
for arg do printf '%s\n' "$arg"; done > "$here/args"
for arg do case $arg in --output=*) exec > "${arg#*=}" ;; esac; done
printf 'a: rw=read\nStarting 1 process\n'
[ "$FAKE" != silent ] || exit 1
printf '{\n  "n" : 1\n}\n\na: 1\n'
if [ "$FAKE" = waits ]; then
	trap 'ended=1' TERM
	: > "$here/waits"
	while [ -z "$ended" ]; do sleep 0.02; done
fi
printf '{\n  "n" : 2\n}\n\na: 2\n'
exit 7
`

// fakeFio2es records its arguments, and writes more than fio's caller should wait for.
const fakeFio2es = `#!/bin/sh
printf '%s\n' "$@" > "${0%/*}/sent"
echo 'sends' >&2
`

// TestLive: reports during the run are in a file, which fio2es sends to a run of several hosts. stdout has what fio prints without them. A
// fio that is a script may be another program, which does not pass on signals: it times its reports.
func TestLive(t *testing.T) {
	eachShell(t, func(b *bench) {
		b.program("fio", liveFio)
		const timed = "fio2es-fio: fio itself times its reports: windows of several hosts begin at different moments, so percentiles of all together are some 7 % off\n"
		for _, c := range []struct {
			fake, stdout string
			status       int
		}{
			{"", "a: rw=read\nStarting 1 process\n{\n  \"n\" : 2\n}\n\na: 2\n", 7},
			{"silent", "a: rw=read\nStarting 1 process\n", 1},
		} {
			args, stderr, status := b.called(b.shim()+" --output-format=json,normal --name=a > o", "FIO2ES_SHIM_LIVE=1", "FAKE="+c.fake)
			text, _ := os.ReadFile(filepath.Join(b.run, "o"))
			if string(text) != c.stdout || status != c.status || stderr != timed {
				b.t.Errorf("%s: status %d, stdout %q, stderr %q", c.fake, status, text, stderr)
			}
			want := []string{"--output=" + b.run + "/live_o", "--status-interval=1", "--write_hist_log=" + b.run + "/o",
				"--log_hist_msec=1000", "--output-format=json+,normal", "--name=a"}
			if !slices.Equal(args, want) {
				b.t.Errorf("fio got %q, want %q", args, want)
			}
		}
		if args, _, _ := b.called(b.shim()+" --name=a > o2", "FIO2ES_SHIM_LIVE=1"); len(args) != 3 {
			b.t.Errorf("without a report in JSON fio got %q", args)
		}
		run := []string{"FIO2ES_SHIM_RUN=night/", "FAKE="}
		if _, err := exec.LookPath("fio2es"); err == nil {
			b.t.Log("there is a fio2es here, so the script is not tested without")
		} else if _, stderr, status := b.called(b.shim()+" --output-format=json --name=a > output.3", run...); status != 7 ||
			!strings.Contains(stderr, "nothing is sent to run night"+b.run+", because there is no fio2es in ") {
			b.t.Errorf("without fio2es: status %d, stderr %q", status, stderr)
		}
		b.program("fio2es", fakeFio2es)
		for _, c := range []struct{ run, name string }{{"night", "night"}, {"night/", "night" + b.run}} {
			os.Remove(filepath.Join(b.dir, "sent"))
			os.Remove(filepath.Join(b.run, "output.3"))
			_, stderr, status := b.called(b.shim()+" --output-format=json --name=a > output.3", "FIO2ES_SHIM_RUN="+c.run, "FAKE=")
			for len(b.lines("sent")) < 5 { // it may begin after fio has ended
				time.Sleep(5 * time.Millisecond)
			}
			sent := b.lines("sent")
			if sent[3] = ""; !slices.Equal(sent, []string{"part", c.name, "output.3", "", filepath.Join(b.run, "live_output.3")}) || stderr != timed || status != 7 {
				b.t.Errorf("status %d, stderr %q, fio2es got %q", status, stderr, sent)
			}
		}
	})
}

// TestLiveSignal: a signal to the script ends fio, and the script prints the report that fio then writes.
func TestLiveSignal(t *testing.T) {
	eachShell(t, func(b *bench) {
		b.program("fio", liveFio)
		cmd := b.command("exec " + b.shim() + " --output-format=json --name=a > o")
		cmd.Env = append(cmd.Env, "FIO2ES_SHIM_LIVE=1", "FAKE=waits")
		if err := cmd.Start(); err != nil {
			b.t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for {
			if _, err := os.Stat(filepath.Join(b.dir, "waits")); err == nil {
				break
			}
			select {
			case err := <-ended:
				b.t.Fatalf("it ended: %v", err)
			case <-time.After(5 * time.Millisecond):
			}
		}
		cmd.Process.Signal(syscall.SIGTERM)
		err := <-ended
		var status *exec.ExitError
		text, _ := os.ReadFile(filepath.Join(b.run, "o"))
		if !errors.As(err, &status) || status.ExitCode() != 7 || !strings.HasSuffix(string(text), "\"n\" : 2\n}\n\na: 2\n") {
			b.t.Errorf("%v, stdout %q", err, text)
		}
	})
}

// TestLint: shellcheck has no complaints.
func TestLint(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("there is no shellcheck here")
	}
	if text, err := exec.Command("shellcheck", "fio2es-fio").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
