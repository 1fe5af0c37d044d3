package main

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/memtest"
)

// runQuestions are commands about a run, which is X.
var runQuestions = [][]string{
	{"percentiles", "X", "--levels", "cluster,host,section,job"},
	{"percentiles", "X", "--total", "--levels", "cluster,host,job"},
	{"percentiles", "X", "--from", "+1s", "--to", "+4500ms", "--direction", "read,write"},
	{"rank", "X", "--within", "100us,1ms", "--from", "+1500ms"},
	{"export", "X", "--as", "csv", "--levels", "job", "--to", "+3s"},
	{"export", "X", "--as", "csv"},
	{"heatmap", "X", "--columns", "20"},
	{"sla", "X", "--rule", "iops >= 250 in every window", "--rule", "p99 <= 1ms in 90% of windows", "--rule", "iops >= 100"},
	{"compare", "../../testdata/corpus/./two-jobs-rw", "X", "--metrics", "iops,mean,p50,p99"},
}

// answersTo returns the answers to the questions about a run, without its name.
func answersTo(t *testing.T, run string, flags ...string) (texts []string) {
	t.Helper()
	for _, q := range runQuestions {
		args := append(slices.Clone(q), flags...)
		args[slices.Index(args, "X")] = run
		if q[0] != "export" {
			args = append(args, "--format", "csv")
		}
		c := call(t, nil, args...)
		if c.code == 1 || c.code == 2 {
			t.Fatalf("%v: exit code %d: %s", args, c.code, c.stderr)
		}
		texts = append(texts, fmt.Sprintf("exit code %d\n%s", c.code, strings.ReplaceAll(c.stdout, run, "")))
	}
	return texts
}

// differ returns the first line at which two answers differ. Numbers may differ by a share of tolerance, but not times,
// requests and IOPS of percentiles. With a tolerance, the bounds of b may be wider: a is made of short windows,
// and the bounds of a long window are narrower.
func differ(a, b string, tolerance float64) string {
	const exact = 13 // columns of percentiles: all before latencies
	same := func(a, b string) bool {
		f, err := strconv.ParseFloat(a, 64)
		g, failed := strconv.ParseFloat(b, 64)
		return a == b || err == nil && failed == nil && math.Abs(f-g) <= tolerance*math.Max(math.Abs(f), math.Abs(g))
	}
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	if len(x) != len(y) {
		return fmt.Sprintf("%d lines, %d lines", len(x), len(y))
	}
	var header []string
	for i := range x {
		p, q := strings.Split(x[i], ","), strings.Split(y[i], ",")
		switch {
		case i == 1:
			header = slices.Clone(p)
		case tolerance > 0 && len(p) == len(header) && len(q) == len(header):
			for c := len(header) - 1; c >= 0; c-- {
				isLow, isHigh := header[c] == "low" || strings.HasSuffix(header[c], "_low_us"), header[c] == "high" || strings.HasSuffix(header[c], "_high_us")
				if !isLow && !isHigh {
					continue
				}
				f, err := strconv.ParseFloat(p[c], 64)
				g, failed := strconv.ParseFloat(q[c], 64)
				isWider := err == nil && failed == nil && (isLow && g <= f*(1+tolerance) || isHigh && g >= f*(1-tolerance))
				if p[c] != q[c] && !isWider {
					return "- " + x[i] + "\n+ " + y[i]
				}
				p, q = slices.Delete(p, c, c+1), slices.Delete(q, c, c+1)
			}
		}
		if len(p) > exact && len(q) > exact && p[3] == "cluster" {
			if !slices.Equal(p[:exact], q[:exact]) {
				return "- " + x[i] + "\n+ " + y[i]
			}
			p, q = p[exact:], q[exact:]
		} else if tolerance > 0 && len(p) > exact && len(q) > exact && (p[3] == "host" || p[3] == "job" || p[3] == "section") {
			p, q = p[:exact], q[:exact] // so few requests that one of them decides
		}
		if !slices.EqualFunc(p, q, same) {
			return "- " + x[i] + "\n+ " + y[i]
		}
	}
	return ""
}

// isCut finds documents with fractions of requests, because rows cross the edges of their windows.
var isCut = regexp.MustCompile(`"weight":\d+\.\d`)

// TestAnswersAgree: files, the history, a history whose windows are joined, one whose windows were joined by compact, and
// one that was ingested with windows of that length give the same answers. CI asks about more runs.
func TestAnswersAgree(t *testing.T) {
	t.Parallel()
	const length = "3s"
	runs, err := filepath.Glob(filepath.Join("testdata", "answers", "*"))
	check(t, err)
	corpus := []string{"coarseness", "fio-2.21", "mixed-bs", "one-file", "stalls", "status-interval", "trim-write-read", "cbt-archive/results/00000000/id-7c1f03ab"}
	for _, name := range memtest.Scale([]string{"stalls"}, corpus) {
		runs = append(runs, filepath.Join("..", "..", "testdata", "corpus", filepath.FromSlash(name)))
	}
	for _, run := range runs {
		t.Run(filepath.Base(run), func(t *testing.T) {
			t.Parallel()
			db, longer := filepath.Join(t.TempDir(), "h.db"), filepath.Join(t.TempDir(), "h.db")
			call(t, nil, "ingest", "--history", db, allLevels, run)
			call(t, nil, "ingest", "--history", longer, allLevels, "--interval", length, run)
			id := ids(outputOf(t, "runs", "--history", db, "--format", "csv"))[0]
			agree := func(what string, want, got []string, tolerance float64) {
				t.Helper()
				for i, q := range runQuestions {
					// Stored counts are whole. So where windows have fractions of requests, sums of counts differ from the
					// counts of a longer window by single requests.
					if tolerance > 0 && (q[0] == "export" || q[0] == "heatmap") {
						continue
					}
					if text := differ(want[i], got[i], tolerance); text != "" {
						t.Errorf("%v: files (-) and %s (+) differ:\n%s", q, what, text)
					}
				}
			}
			agree("the history", answersTo(t, run), answersTo(t, id, "--history", db), 0)
			want := answersTo(t, run, "--interval", length)
			agree("longer windows", want, answersTo(t, id, "--history", longer, "--interval", length), 0)
			tolerance := 0.0
			if isCut.MatchString(call(t, nil, "ingest", "--output", "-", allLevels, run).stdout) {
				tolerance = 0.05
			}
			agree("joined windows", want, answersTo(t, id, "--history", db, "--interval", length), tolerance)
			outputOf(t, "compact", id, "--to", length, "--yes", "--history", db)
			agree("compacted windows", want, answersTo(t, id, "--history", db, "--interval", length), tolerance)
		})
	}
}

// TestOneRunFails: an error of one run does not end the answers for the others, and no line is cut.
func TestOneRunFails(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "h.db")
	outputOf(t, "ingest", "--history", db, "testdata/answers/sparse.tar.gz")
	outputOf(t, "ingest", "--history", db, allLevels, "testdata/answers/delay.tar.gz", "testdata/answers/twodir.tar.gz")
	id := map[string]string{}
	for _, r := range linesOf[struct{ Run, Archive string }](t, 0, "runs", "--history", db) {
		id[r.Archive] = r.Run
	}
	runs := []string{id["delay"], id["sparse"], id["twodir"], "--history", db}
	const why = "has no documents of level job"
	out, errs := outAndErr(t, 1, append([]string{"export", "--as", "json", "--levels", "job"}, runs...)...)
	expect(t, "export", errs, why)
	of := map[string]int{}
	for _, l := range decoded[struct{ Run string }](t, out) {
		of[l.Run]++
	}
	if of[id["delay"]] != 18 || of[id["twodir"]] != 10 {
		t.Errorf("lines of runs: %v", of)
	}
	for code, rule := range map[int]string{1: "p99 < 10s", 4: "p99 < 1ns"} {
		out, errs = outAndErr(t, code, append([]string{"sla", "--job", "1", "--rule", rule}, runs...)...)
		expect(t, "sla", errs, why)
		expect(t, "sla", out, "delay:out", "twodir:out")
	}
}

// TestTotalsOfFio: if fio's report has no bins, its totals are nevertheless those of the run. What is not known is null.
func TestTotalsOfFio(t *testing.T) {
	t.Parallel()
	type total struct {
		Requests        int64
		IOPS, Bandwidth *float64
	}
	db := filepath.Join(t.TempDir(), "h.db")
	outAndErr(t, 0, "ingest", "--history", db, "testdata/answers/plain.tar.gz")
	if got := linesOf[total](t, 0, "runs", "--history", db)[0]; got.Requests != 3201 || *got.IOPS != 800.05 || *got.Bandwidth != 3277005 {
		t.Errorf("%d requests, %g per second, %g bytes", got.Requests, *got.IOPS, *got.Bandwidth)
	}
	outAndErr(t, 0, "sla", "--rule", "iops >= 800", "testdata/answers/plain.tar.gz")
	outAndErr(t, 0, "ingest", "--history", db, "testdata/answers/logs.tar.gz")
	for _, got := range linesOf[total](t, 0, "runs", "logs", "--history", db) {
		if got.Bandwidth != nil {
			t.Errorf("bandwidth %g", *got.Bandwidth)
		}
	}
}
