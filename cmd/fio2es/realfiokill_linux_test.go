package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/mapping/templates"
)

// The runs that are killed. Their jobs write a known number of requests per second, one behind the other. So the
// sizes of their files show how many are done, without a report.
const (
	killedRuntime = 3 * time.Second
	killedRate    = 1000 // requests per second, of two jobs together
	killedSize    = 4096 // bytes of a request
)

// TestRealFioKilled kills the fio that FIO2ES_TEST_FIO names, fio2es, and both, with SIGKILL. It does so at
// FIO2ES_TEST_KILLS moments, evenly from the start of fio until after its end. fio2es or the next command must store
// what fio had reported, once. Unless fio survived, it must say that the run is not complete.
func TestRealFioKilled(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	t.Parallel()
	killAll(t, fio, false, "fio", "fio2es", "both")
}

// TestRealFioKilledShared does the same with a host of a shared run, whose history is in a stand-in cluster, which is killed, too: for a second and
// a half it cuts all connections. No window may be missing or count twice.
func TestRealFioKilledShared(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	t.Parallel()
	killAll(t, fio, true, "fio", "fio2es", "both", "server")
}

// killAll kills each of some victims at each moment, and logs what was lost.
func killAll(t *testing.T, fio string, isShared bool, all ...string) {
	moments := max(number("FIO2ES_TEST_KILLS"), 3)
	var kills []*kill
	t.Run("kills", func(t *testing.T) {
		for i := range moments {
			for _, victims := range all {
				k := &kill{
					fio: fio, moment: (killedRuntime + time.Second) * time.Duration(2*i+1) / time.Duration(2*moments), victims: victims, isShared: isShared,
				}
				kills = append(kills, k)
				t.Run(fmt.Sprintf("%s at %v", victims, k.moment), func(t *testing.T) {
					t.Parallel()
					k.test(t)
				})
			}
		}
	})
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "MOMENT\tKILLED\tWHILE IT\tDONE\tREPORTED\tSTORED\tSECONDS LOST\t")
	for _, k := range kills {
		fmt.Fprintf(w, "%.2f\t%s\t%s\t%d\t%d\t%d\t%.2f\t\n", k.moment.Seconds(), k.victims, k.while, k.done, k.reported, k.stored, k.lost())
	}
	w.Flush()
	t.Logf("real fio, killed:\n%s", &b)
}

type kill struct {
	fio     string
	moment  time.Duration // time after fio's start
	victims string        // fio, fio2es, both, or server

	isShared bool
	cuts     atomic.Bool // the server cuts connections

	while    string // what was happening
	atKill   int64  // requests done at that moment
	inEnd    int64  // requests done when all processes had ended
	done     int64  // atKill, or inEnd if fio survived
	reported int64  // requests in fio's last complete report: at that moment, or at the end if fio survived
	reports  int    // complete reports of fio
	stored   int64  // requests stored
}

// lost returns for how many seconds the requests are done but not stored.
func (k *kill) lost() float64 { return max(float64(k.done-k.stored)/killedRate, 0) }

// test kills a run, lets the next command find it, and compares. A busy machine may delay a report, so it fails only
// if too much is lost three times.
func (k *kill) test(t *testing.T) {
	const tries, most = 3, 1.2 // seconds that may be lost: a report comes each second, and takes some time
	for try := 1; ; try++ {
		k.once(t)
		if t.Failed() || k.lost() <= most {
			return
		}
		t.Logf("try %d: %.2f s lost", try, k.lost())
		if try == tries {
			t.Errorf("killed at %v, %d requests are stored of %d: more than the last second is lost", k.moment, k.stored, k.done)
			return
		}
	}
}

func (k *kill) once(t *testing.T) {
	dir := t.TempDir()
	command := func(args ...string) *exec.Cmd {
		p := exec.Command("fio2es", args...)
		p.Dir, p.Env = dir, append(os.Environ(), "XDG_DATA_HOME="+dir)
		return p
	}
	words := []string{"run"}
	if k.isShared {
		address := k.serve(t)
		plain := command
		command = func(args ...string) *exec.Cmd {
			p := plain(args...)
			p.Env = append(p.Env, "FIO2ES_ELASTICSEARCH_ADDRESSES="+address, "FIO2ES_HOST=a")
			return p
		}
		words = append(words, "--run=night")
	}
	words = append(words, "--", k.fio, "--rw=write", "--ioengine=sync", "--bs="+strconv.Itoa(killedSize), "--size=1g", "--fallocate=none",
		"--rate_iops="+strconv.Itoa(killedRate/2), "--time_based", "--runtime="+killedRuntime.String(),
		"--name=a", "--filename=a", "--name=b", "--filename=b")
	running := command(words...)
	var errs strings.Builder
	running.Stderr = &errs
	running.WaitDelay = time.Second // jobs of a killed fio keep stderr open
	check(t, running.Start())
	defer killIn(dir)
	report := k.strike(t, dir, running)
	ended := make(chan struct{})
	var finishing sync.WaitGroup
	if k.isShared { // so that the command does not wait for other hosts
		finishing.Go(func() {
			for {
				select {
				case <-ended:
					return
				case <-time.After(300 * time.Millisecond):
					_ = command("finish", "night").Run()
				}
			}
		})
	}
	err := running.Wait()
	close(ended)
	finishing.Wait()
	if k.victims == "fio" && k.isDead() && running.ProcessState.ExitCode() != 128+int(syscall.SIGKILL) {
		t.Errorf("exit code %v of fio2es, whose fio was killed\n%s", err, &errs)
	}
	waitForJobs(t, dir)
	if !k.killsFio() {
		k.done = requestsOn(t, dir)
	}
	k.reported, k.reports = lastReport(t, report)

	var said strings.Builder
	storing := command("ingest", t.TempDir()) // stores what was interrupted, and fails, because the folder has no runs
	storing.Stderr = &said
	_ = storing.Run()
	if k.isShared {
		_ = command("finish", "night").Run() // it fails if it is done
	}
	next := command("runs", "--format", "csv", "--columns", "direction,requests,state,note")
	next.Stderr = &said
	listed, err := next.Output()
	if err != nil && k.reported > 0 {
		t.Fatalf("the next command: %v\n%s%s", err, &errs, &said)
	}
	again, _ := command("runs", "--format", "csv", "--columns", "direction,requests,state,note").Output()
	if !bytes.Equal(listed, again) {
		t.Errorf("the command after the next lists\n%snot\n%s", again, listed)
	}
	k.inEnd = requestsOn(t, dir)
	k.compare(t, string(listed), errs.String()+said.String())
	if k.isShared && k.stored > 0 {
		windows, err := command("percentiles", "latest", "--format", "csv").Output()
		check(t, err)
		rows, err := csv.NewReader(bytes.NewReader(windows)).ReadAll()
		check(t, err)
		level, at, sum := slices.Index(rows[0], "level"), slices.Index(rows[0], "requests"), int64(0)
		for _, row := range rows[1:] {
			if row[level] != "cluster" { // the row of the whole run
				continue
			}
			n, err := strconv.ParseInt(row[at], 10, 64)
			check(t, err)
			sum += n
		}
		const enough = 3 // of fewer reports it is not known how often they come
		if sum != k.stored && (sum > 0 || k.reports >= enough) {
			t.Errorf("windows have %d requests, the run %d\n%s", sum, k.stored, windows)
		}
	}
}

// serve starts a stand-in cluster, and returns its address.
func (k *kill) serve(t *testing.T) string {
	stand := estest.New(templates.Names("fio")...)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if k.cuts.Load() {
			panic(http.ErrAbortHandler)
		}
		stand.ServeHTTP(w, r)
		if k.cuts.Load() { // it has done this, and does not say so
			panic(http.ErrAbortHandler)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// compare compares what is stored with fio's last complete report.
func (k *kill) compare(t *testing.T, listed, messages string) {
	rows, err := csv.NewReader(strings.NewReader(listed)).ReadAll()
	check(t, err)
	k.stored = 0
	switch {
	case k.reported == 0 && len(rows) <= 1:
		return // there was nothing to store
	case len(rows) != 2:
		t.Errorf("want one run:\n%s%s", listed, messages)
		return
	}
	k.stored, _ = strconv.ParseInt(rows[1][1], 10, 64)
	// jobs of a killed fio write their logs
	if k.stored < k.reported || k.stored > k.reported && !k.killsFio() || k.stored > k.inEnd {
		t.Errorf("%d requests are stored, fio's last report has %d\n%s%s", k.stored, k.reported, listed, messages)
	}
	if state, note := rows[1][2], rows[1][3]; k.isDead() && (!strings.Contains(state, "incomplete") || note == "") {
		t.Errorf("a run whose fio was killed is said to be complete:\n%s", listed)
	} else if !k.killsFio() && strings.Contains(state, "incomplete") {
		t.Errorf("a run whose fio ended is said to be incomplete:\n%s", listed)
	}
}

func (k *kill) killsFio() bool { return k.victims == "fio" || k.victims == "both" }

// isDead reports whether fio was certainly killed before its end.
func (k *kill) isDead() bool {
	const all = int64(killedRuntime/time.Second) * killedRate
	return k.killsFio() && k.while == "runs" && k.atKill < all*9/10
}

// strike kills at the moment. It returns fio's report, which can be read even after fio2es has removed the folder.
func (k *kill) strike(t *testing.T, dir string, running *exec.Cmd) (report *os.File) {
	deadline := time.Now().Add(time.Minute)
	var pid int
	for ; report == nil; time.Sleep(time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(dir, "fio2es", "runs", "*", "a.grid1s.json")); len(found) > 0 {
			report, _ = os.Open(found[0])
		}
		if time.Now().After(deadline) {
			t.Fatal("fio does not start")
		}
	}
	t.Cleanup(func() { report.Close() })
	for pid == 0 && time.Now().Before(deadline) {
		pid = childOf(running.Process.Pid)
	}
	time.Sleep(k.moment)
	k.while = "runs"
	if childOf(running.Process.Pid) != pid {
		if k.while = "is stored"; running.ProcessState != nil || len(unfinished(dir)) == 0 {
			k.while = "stored"
		}
	}
	k.atKill = requestsOn(t, dir)
	k.done = k.atKill
	if k.victims == "server" {
		k.cuts.Store(true)
		time.AfterFunc(1500*time.Millisecond, func() { k.cuts.Store(false) })
		return report
	}
	if k.victims != "fio" {
		_ = running.Process.Kill()
	}
	if k.killsFio() && k.while == "runs" {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return report
}

// childOf returns a child of a process, or 0.
func childOf(pid int) (child int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		if _, err := fmt.Sscan(string(text), &child); err == nil {
			return child
		}
	}
	return 0
}

func unfinished(dir string) []string {
	paths, _ := record.Folders(filepath.Join(dir, "fio2es", "runs")).Unfinished()
	return paths
}

// waitForJobs waits until no process of a run is left. If fio is killed before it has started all jobs, the others
// wait for it forever. So after the time of all jobs they are killed.
func waitForJobs(t *testing.T, dir string) {
	t.Helper()
	for wait := 2 * killedRuntime; ; wait -= 10 * time.Millisecond {
		isRunning := slices.ContainsFunc(unfinished(dir), func(path string) bool {
			entry, err := record.Claim(path)
			if err == nil {
				err = entry.Release()
			}
			return errors.Is(err, record.ErrRunning)
		})
		if !isRunning {
			return
		}
		if wait < 0 {
			killIn(dir)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// killIn kills the processes that run in a folder.
func killIn(dir string) {
	folders, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, folder := range folders {
		if at, _ := os.Readlink(folder); at == dir {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// requestsOn returns the number of requests that the jobs have done, from the sizes of their files.
func requestsOn(t *testing.T, dir string) (sum int64) {
	t.Helper()
	for _, job := range []string{"a", "b"} {
		if info, err := os.Stat(filepath.Join(dir, job)); err == nil {
			sum += info.Size() / killedSize
		}
	}
	return sum
}

// lastReport returns the number of requests in the last complete report of fio, and how many reports there are.
func lastReport(t *testing.T, from *os.File) (sum int64, reports int) {
	t.Helper()
	_, err := from.Seek(0, io.SeekStart)
	check(t, err)
	text, err := io.ReadAll(from)
	check(t, err)
	for part := range strings.SplitSeq(string(text), "\n{\n") {
		var report struct{ Jobs []fioJob }
		if err := json.NewDecoder(strings.NewReader("{" + part)).Decode(&report); err != nil {
			continue // before the first report, or cut off
		}
		sum, reports = 0, reports+1
		for _, job := range report.Jobs {
			sum += int64(job.Write.Total)
		}
	}
	return sum, reports
}
