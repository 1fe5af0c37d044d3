//go:build linux

package fiomatrix

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/testcost"
)

// TestRandom makes random executions of fio, and compares what the program says of them with fio's raw completions. An execution
// fails only if something is wrong and the program says no word. The package comment has the settings.
func TestRandom(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	t.Parallel()
	program := os.Getenv("FIO2ES_TEST_PROGRAM")
	if program == "" {
		program = build(t)
	}
	kept, tries := os.Getenv("FIO2ES_TEST_FIO_KEPT"), int(number(t, "FIO2ES_TEST_FIO_TRIES", 1))
	running := make(chan struct{}, number(t, "FIO2ES_TEST_FIO_PARALLEL", 6))
	cases := []*execution{}
	for _, seed := range executionSeeds(t, kept) {
		x := &execution{seed: seed, done: make(chan struct{})}
		cases = append(cases, x)
		go func() {
			defer close(x.done)
			running <- struct{}{}
			defer func() { <-running }()
			for range tries {
				if x.run(t.Context(), fio, program, kept); !x.failed() && x.outcome != busy {
					return
				}
			}
		}()
	}
	counts := map[string]int{}
	for _, x := range cases {
		t.Run(fmt.Sprint(x.seed), func(t *testing.T) {
			<-x.done
			counts[x.outcome]++
			t.Logf("%s", x.text)
			if x.failed() {
				t.Errorf("again: FIO2ES_TEST_FIO_ONLY=random/%d", x.seed)
			}
		})
	}
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%4d %s", counts[outcome], outcome)
	}
}

// executionSeeds returns the seeds of new cases, of the kept ones, or of one.
func executionSeeds(t *testing.T, kept string) (seeds []uint64) {
	t.Helper()
	if one, ok := strings.CutPrefix(os.Getenv("FIO2ES_TEST_FIO_ONLY"), "random/"); ok {
		n, err := strconv.ParseUint(one, 10, 64)
		if err != nil {
			t.Fatalf("FIO2ES_TEST_FIO_ONLY: %v", err)
		}
		return []uint64{n}
	}
	if kept == "" {
		for i := range number(t, "FIO2ES_TEST_FIO_RANDOM", 8) {
			seeds = append(seeds, caseSeed(testcost.Seed(), int(i)))
		}
		t.Logf("%d executions, seed %d", len(seeds), testcost.Seed())
		return seeds
	}
	entries, err := os.ReadDir(kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if n, err := strconv.ParseUint(e.Name(), 10, 64); err == nil {
			seeds = append(seeds, n)
		}
	}
	return seeds
}

// What the program says of an execution is one of these.
const (
	right       = "ok"
	contradicts = "contradicts" // right within a bin, but not what fio reports of all requests
	accused     = "accused"     // right, but with a warning
	warned      = "said"        // something is wrong, with a warning
	noted       = "noted"       // something is wrong, with a note about such numbers and exit code 0
	silent      = "SILENT"      // something is wrong, without a word
	busy        = "busy"        // the machine was too busy
	noCase      = "no case"     // the execution itself failed
)

// execution is a random execution, and what the program says of it.
type execution struct {
	seed    uint64
	outcome string
	text    string
	done    chan struct{}
}

func (x *execution) failed() bool {
	return x.outcome == silent || x.outcome == contradicts || x.outcome == noCase
}

// run makes the execution, or takes the kept one, and judges the answer.
func (x *execution) run(ctx context.Context, fio, program, kept string) {
	s := newScene("random", x.seed)
	var err error
	if s.root = filepath.Join(kept, fmt.Sprint(x.seed)); kept == "" {
		s.root, err = os.MkdirTemp(tempFolder(), "fiorandom")
		defer os.RemoveAll(s.root)
	}
	s.drawExecution()
	var a *said
	if err == nil {
		err = s.execute(ctx, fio, kept != "")
	}
	if late := s.disturbed(); err == nil && kept == "" && late > 0 {
		x.outcome, x.text = busy, fmt.Sprintf("the machine was busy: a job began or ended %d ms late", late)
		return
	}
	if err == nil {
		a, err = s.ask(ctx, program)
	}
	if err != nil {
		x.outcome, x.text = noCase, err.Error()
		return
	}
	wrong := s.judge(a)
	x.outcome = outcomeOf(wrong, a.percentiles)
	x.text = s.explain(x.outcome, wrong, a)
	if dir := os.Getenv("FIO2ES_TEST_FIO_KEEP"); dir != "" && kept == "" {
		if err := x.keep(s, dir); err != nil {
			x.outcome, x.text = noCase, err.Error()
		}
	}
}

// execute runs fio, or reads again what it wrote.
func (s *scene) execute(ctx context.Context, fio string, again bool) error {
	if !again {
		if err := s.launch(ctx, fio); err != nil {
			return err
		}
		return s.arrange(s)
	}
	for _, p := range s.processes {
		if err := s.readTruth(p); err != nil {
			return err
		}
	}
	for _, name := range []string{"history.db", "documents.ndjson"} {
		if err := os.RemoveAll(s.in(name)); err != nil {
			return err
		}
	}
	return nil
}

// words are lines on stderr that say which numbers are not exact. check is how their checks begin or end.
var words = []struct{ check, line *regexp.Regexp }{
	{regexp.MustCompile(`^runs`), regexp.MustCompile(`groups|stages|read as one|one after another|began together`)},
	{
		regexp.MustCompile(`start|end$|IOPS|window|counts|percentiles`),
		regexp.MustCompile(`start taken|starts are|nothing says when|began|may have waited|estimates|are divided|did not end together`),
	},
	{regexp.MustCompile(`^total|^sum|^bytes|double| of run | of host |IOPS|^run end|^last window`), regexp.MustCompile(`in no window|last part of an interval|does not report how many|windows lack`)},
}

// outcomeOf compares what is wrong with what is said about it.
func outcomeOf(wrong []failure, a answer) string {
	outcome, loud := right, a.exit == 3 && a.stderr != ""
	for _, f := range wrong {
		about := loud
		for _, w := range words {
			about = about || w.check.MatchString(f.check) && w.line.MatchString(a.stderr)
		}
		switch {
		case strings.HasPrefix(f.check, reports):
			return contradicts
		case !about:
			return silent
		case loud:
			outcome = warned
		default:
			outcome = noted
		}
	}
	if loud && outcome == right {
		return accused
	}
	return outcome
}

// explain says what was run, what is wrong, and what the program says.
func (s *scene) explain(outcome string, wrong []failure, a *said) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: random/%d: %s, rows of %d ms, coarseness %d, %s %s\n", outcome, s.seed, s.random.form, s.histMS, s.coarse, s.random.packed, s.random.layout)
	for _, p := range s.processes {
		text, _ := os.ReadFile(s.in("truth", fmt.Sprintf("fio.%d.txt", p.number)))
		options, _ := os.ReadFile(p.jobFile)
		fmt.Fprintf(&b, "%s%s\n", text, options)
	}
	for _, j := range s.truth {
		fmt.Fprintf(&b, "truth: job %s %d of %s: read %d, write %d, trim %d; start %d (±%d), end %d to %d\n", j.host, j.number, j.process.sections[j.section].name,
			j.total(0), j.total(1), j.total(2), j.start(), (j.startHi-j.startLo)/2, j.endLo, j.endHi)
	}
	for _, f := range wrong {
		fmt.Fprintf(&b, "wrong: %s: %s, expected %s\n", f.check, f.got, f.want)
	}
	for _, x := range []answer{a.ingest, a.percentiles} {
		fmt.Fprintf(&b, "fio2es %s: exit code %d\n%s", strings.Join(x.args, " "), x.exit, x.stderr)
	}
	return b.String()
}

// keep copies the files of a case, and what is wrong. fio2es must not take it for a report of fio.
func (x *execution) keep(s *scene, dir string) error {
	for _, name := range []string{"data", "home", "history.db", "documents.ndjson"} {
		if err := os.RemoveAll(s.in(name)); err != nil {
			return err
		}
	}
	to := filepath.Join(dir, fmt.Sprint(x.seed))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if text, err := exec.Command("cp", "-a", s.root, to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return os.WriteFile(filepath.Join(to, "truth", "verdict.txt"), []byte(x.text), 0o644)
}
