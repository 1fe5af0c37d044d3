//go:build linux

package fiomatrix

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMatrix runs fio in all ways. The package comment has its settings.
func TestMatrix(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	t.Parallel()
	program := os.Getenv("FIO2ES_TEST_PROGRAM")
	if program == "" {
		program = build(t)
	}
	seed := number(t, "FIO2ES_TEST_FIO_SEED", 1)
	minor := minorVersion(t, fio)
	cases := draw(t, seed, int(number(t, "FIO2ES_TEST_FIO_RUNS", uint64(len(ways)))), os.Getenv("FIO2ES_TEST_FIO_ONLY"))
	t.Logf("%d cases of %d ways, seed %d; one again: FIO2ES_TEST_FIO_ONLY=WAY/SEED", len(cases), len(ways), seed)
	parallel := int(number(t, "FIO2ES_TEST_FIO_PARALLEL", 6))
	tries := int(number(t, "FIO2ES_TEST_FIO_TRIES", 1))
	running := make(chan struct{}, parallel)
	cases = slices.DeleteFunc(cases, func(o *outcome) bool { return minor < since[o.way.name] })
	for _, o := range cases {
		o.done, o.minor = make(chan struct{}), minor
		go func() {
			defer close(o.done)
			running <- struct{}{}
			defer func() { <-running }()
			o.try(t.Context(), tries, fio, program)
		}()
	}
	for _, o := range cases {
		t.Run(o.name(), func(t *testing.T) {
			<-o.done
			o.report(t)
		})
	}
	printTable(testWriter{t}, cases)
}

// minorVersion returns NN of fio-3.NN.
func minorVersion(t *testing.T, fio string) (minor int) {
	t.Helper()
	text, err := exec.Command(fio, "--version").Output()
	if err == nil {
		_, err = fmt.Sscanf(string(text), "fio-3.%d", &minor)
	}
	if err != nil {
		t.Fatalf("%s --version: %q, %v", fio, text, err)
	}
	return minor
}

// number reads a setting.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%s: not a number", name, text)
	}
	return n
}

// build builds the program of this module.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fio2es")
	if text, err := exec.Command("go", "build", "-o", program, "../../cmd/fio2es").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	return program
}

// outcome is a case and its result.
type outcome struct {
	way     way
	seed    uint64
	minor   int // minor version of fio 3
	scene   *scene
	said    *said
	verdict *verdict
	err     error
	took    time.Duration
	done    chan struct{}
	text    strings.Builder
	before  []string // failures of earlier attempts of the case
}

func (o *outcome) name() string { return fmt.Sprintf("%s/%d", o.way.name, o.seed) }

// draw makes n cases, with all ways in turn and different seeds.
func draw(t *testing.T, seed uint64, n int, only string) []*outcome {
	t.Helper()
	name, one, single := strings.Cut(only, "/")
	var cases []*outcome
	for i := 0; len(cases) < n && i < 100*len(ways); i++ {
		w := ways[i%len(ways)]
		if only != "" && w.name != name {
			continue
		}
		o := &outcome{way: w, seed: caseSeed(seed, i)}
		if single {
			s, err := strconv.ParseUint(one, 10, 64)
			if err != nil {
				t.Fatalf("FIO2ES_TEST_FIO_ONLY=%s: %v", only, err)
			}
			o.seed, n = s, 1
		}
		cases = append(cases, o)
	}
	if len(cases) == 0 {
		t.Fatalf("FIO2ES_TEST_FIO_ONLY=%s: no such way", only)
	}
	return cases
}

// caseSeed returns a short seed, because people type it.
func caseSeed(seed uint64, i int) uint64 {
	h := fnv.New32a()
	fmt.Fprint(h, seed, i)
	return uint64(h.Sum32()) % 1_000_000
}

// try repeats the case while it fails. A busy machine stops fio at moments that neither its logs nor the truth show.
func (o *outcome) try(ctx context.Context, tries int, fio, program string) {
	garbled := 2 // so many attempts whose truth fio garbled are none
	for {
		o.run(ctx, fio, program)
		if errors.Is(o.err, errNoRow) && garbled > 0 {
			garbled--
		} else {
			tries--
		}
		if o.passed() || tries <= 0 {
			return
		}
		o.before = append(o.before, o.wrong())
		o.err, o.verdict, o.said = nil, nil, nil
		o.text.Reset()
	}
}

func (o *outcome) passed() bool { return o.err == nil && len(o.verdict.failures) == 0 }

// wrong returns the first failure.
func (o *outcome) wrong() string {
	if o.err != nil {
		return oneLine(o.err.Error())
	}
	f := o.verdict.failures[0]
	return f.check + ": " + oneLine(f.got)
}

// run runs fio and fio2es, and checks the case.
func (o *outcome) run(ctx context.Context, fio, program string) {
	began := time.Now()
	defer func() { o.took = time.Since(began) }()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	root, err := os.MkdirTemp(tempFolder(), "fiomatrix")
	if err != nil {
		o.err = err
		return
	}
	defer os.RemoveAll(root)
	s := newScene(o.way.name, o.seed)
	s.root, o.scene = root, s
	if o.err = o.way.draw(s); o.err != nil {
		return
	}
	if o.minor >= 6 && o.minor <= 16 {
		s.halve()
	}
	if o.err = s.launch(ctx, fio); o.err == nil && s.arrange != nil {
		o.err = s.arrange(s)
	}
	if o.err == nil {
		o.said, o.err = s.ask(ctx, program)
	}
	if o.err == nil {
		o.verdict = s.check(o.said)
	}
	if !o.passed() {
		o.describe(&o.text)
		o.keep()
	}
}

// tempFolder returns a folder in memory if there is space. fio writes logs when a job ends, and a busy disk would
// delay the times of files and reports.
func tempFolder() string {
	const memory, room = "/dev/shm", 1 << 30
	var free syscall.Statfs_t
	if syscall.Statfs(memory, &free) == nil && free.Bavail*uint64(free.Bsize) > room {
		return memory
	}
	return ""
}

// describe writes what is needed to understand a failure.
func (o *outcome) describe(w io.Writer) {
	s := o.scene
	for _, p := range s.processes {
		text, _ := os.ReadFile(s.in("truth", fmt.Sprintf("fio.%d.txt", p.number)))
		fmt.Fprintf(w, "%s\n", text)
	}
	for _, j := range s.truth {
		fmt.Fprintf(w, "job %s%d of %s: read %d, write %d, trim %d; start %d (±%d), end %d\n", j.host, j.number, j.process.sections[j.section].name,
			j.total(0), j.total(1), j.total(2), j.start(), (j.startHi-j.startLo)/2, j.endHi)
	}
	if o.said != nil {
		for _, a := range []answer{o.said.ingest, o.said.percentiles, o.said.list} {
			fmt.Fprintf(w, "fio2es %s: exit code %d\n%s", strings.Join(a.args, " "), a.exit, a.stderr)
		}
		fmt.Fprintf(w, "%s", o.said.ingest.stdout)
	}
}

// keep copies the files of a case to the folder for failed cases.
func (o *outcome) keep() {
	dir := os.Getenv("FIO2ES_TEST_FIO_KEEP")
	if dir == "" {
		return
	}
	to := filepath.Join(dir, fmt.Sprintf("%s.%d", o.way.name, o.seed))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		o.err = err
		return
	}
	os.RemoveAll(to)
	if text, err := exec.Command("cp", "-a", o.scene.root, to).CombinedOutput(); err != nil {
		o.err = fmt.Errorf("%w: %s", err, text)
	}
	os.WriteFile(filepath.Join(to, "case.txt"), []byte(o.text.String()), 0o644)
}

// report fails the test if the case has failures.
func (o *outcome) report(t *testing.T) {
	if o.err != nil {
		t.Fatalf("%v\n%s", o.err, &o.text)
	}
	for _, f := range o.verdict.failures {
		t.Errorf("%s: %s, expected %s", f.check, f.got, f.want)
	}
	if t.Failed() {
		t.Logf("%s\nagain: FIO2ES_TEST_FIO_ONLY=%s", &o.text, o.name())
	}
}
