package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// hostile is a name that would change a terminal's title, forge a line and reverse text. In a file system it is an
// ordinary name.
const hostile = "x\x1b]0;owned\x07\r\nerror: forged\u009b31m\u202e"

// TestNothingRaw: for an archive with hostile names, commands print no control sequence and no forged line.
func TestNothingRaw(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive := filepath.Join(dir, hostile)
	check(t, os.MkdirAll(archive, 0o755))
	for _, name := range []string{"out_clat_hist.1.log.gz", "out_clat_hist.2.log.gz", "out.txt.gz"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw", name))
		check(t, err)
		check(t, os.WriteFile(filepath.Join(archive, name), text, 0o600))
	}
	check(t, os.WriteFile(filepath.Join(archive, hostile+"_clat_hist.3.log"), []byte("no log\n"), 0o600))
	settings := ownHistory(t)
	said := 0
	for _, args := range [][]string{
		{"ingest", "--dry-run", archive}, {"ingest", "--labels", "a=" + hostile, archive}, {"ingest", archive}, {"runs", "-v"}, {"runs", hostile}, {"runs", "nosuchrun"},
		{"percentiles", "--total", "latest"}, {"percentiles", archive}, {"rank", "latest", "--within", "1ms"}, {"heatmap", "latest"}, {"heatmap", archive},
		{"show", "latest"}, {"show", archive},
		{"compare", "latest", "latest"}, {"compare", archive, archive}, {"sla", "latest", "--rule", "p99 <= 1s"}, {"sla", archive, "--rule", "p99 <= 1us"}, {"sla", "latest", "--rule", hostile},
		{"percentiles", filepath.Join(dir, "none"+hostile)}, {"percentiles", hostile}, {"runs", "--" + hostile}, {"runs", "--sort", hostile}, {hostile}, {"follow", filepath.Join(dir, "none"+hostile)},
		{"report", "latest", "-o", filepath.Join(dir, hostile, "none", "x.html")}, {"export", "latest", "--as", hostile}, {"setup", "--elasticsearch", "http://localhost:1/" + hostile},
	} {
		var out, errs bytes.Buffer
		run(t.Context(), append([]string{"--config", settings}, args...), nil, &out, &errs)
		for name, text := range map[string]string{"stdout": out.String(), "stderr": errs.String()} {
			raw := func(r rune) bool { return !unicode.IsGraphic(r) && r != '\n' && r != '\t' }
			if strings.ContainsFunc(text, raw) || slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "error: forged") }) {
				t.Errorf("%q: %s: %q", args, name, text)
			}
			if strings.Contains(text, `\x1b]0;owned\a\r\nerror: forged\u009b31m\u202e`) {
				said++
			}
		}
	}
	if said < 12 {
		t.Errorf("%d texts have the name: this test tries too little", said)
	}
}

// TestReasonsOfServers: the reason in an error of a cluster or a Kibana is shown on one line, without characters
// that a terminal would act on.
func TestReasonsOfServers(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(map[string]any{"status": 400, "message": hostile, "error": map[string]any{"type": "x", "reason": hostile}})
	check(t, err)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(text)
	}))
	defer refusing.Close()
	for _, args := range [][]string{
		{"runs", "--elasticsearch", refusing.URL}, {"ingest", "--elasticsearch", refusing.URL, exampleArchive}, {"percentiles", "latest", "--elasticsearch", refusing.URL},
		{"check", "--elasticsearch", refusing.URL}, {"setup", "--elasticsearch", refusing.URL}, {"setup", "--kibana", refusing.URL},
	} {
		_, errs := outAndErr(t, exitFailed, args...)
		if !strings.Contains(errs, `\x1b]0;owned\a\r\nerror: forged\u009b31m\u202e`) {
			t.Errorf("%q: the reason is not shown: %q", args, errs)
		}
		for line := range strings.Lines(errs) {
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsGraphic(r) }) || strings.HasPrefix(line, "error: forged") {
				t.Errorf("%q: %q", args, line)
			}
		}
	}
}

// TestErrorLines: each of several errors has its own line, and a newline within an error is shown as text.
func TestErrorLines(t *testing.T) {
	t.Parallel()
	a, b := errors.New("a"), errors.New("b\nerror: forged")
	for _, c := range []struct {
		err  error
		want []string
	}{
		{a, []string{"a"}}, {b, []string{"b\nerror: forged"}}, {errors.Join(a, errors.Join(a, b)), []string{"a", "a", "b\nerror: forged"}},
		{usageError{Err: errors.Join(a, b)}, []string{"a", "b\nerror: forged"}}, {fmt.Errorf("%w: %w", a, b), []string{"a: b\nerror: forged"}},
	} {
		if got := errorLines(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q", c.err, got)
		}
	}
}

// TestCompletionIsClean: no name in the history brings an escape sequence into what a shell shows.
func TestCompletionIsClean(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]0;evil\x07"
	dir, settings := filepath.Join(t.TempDir(), "a"+evil), ownHistory(t)
	check(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw"))))
	var out, errs bytes.Buffer
	run(t.Context(), []string{"--config", settings, "ingest", "--labels", "x" + evil + "=y,good=z" + evil, dir}, nil, &out, &errs)
	for _, args := range [][]string{{"percentiles", ""}, {"runs", ""}, {"label", "latest", ""}, {"label", "latest", "good="}} {
		got := callWith(t, settings, append([]string{"__complete"}, args...)...)
		if strings.ContainsAny(got, "\x1b\x07") {
			t.Errorf("%q: %q", args, got)
		}
		if args[0] == "runs" && !strings.Contains(got, `a\x1b]0;evil`) {
			t.Errorf("%q does not have the run: %q; %s", args, got, &errs)
		}
	}
}

// TestNoFormulas: no cell of CSV is a formula for a spreadsheet. JSON has the names unchanged.
func TestNoFormulas(t *testing.T) {
	t.Parallel()
	const formula = "=HYPERLINK(1)"
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw", "out_clat_hist.1.log.gz"))
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, formula+"_clat_hist.1.log.gz"), text, 0o600))
	settings := ownHistory(t)
	for _, args := range [][]string{
		{"percentiles", "--total", dir, "--format"}, {"rank", dir, "--within", "1ms", "--format"}, {"heatmap", dir, "--format"},
		{"compare", dir, dir, "--format"}, {"sla", dir, "--rule", "p99 <= 1s", "--format"}, {"export", dir, "--as"}, {"ingest", dir, "--labels"}, {"runs", "--format"},
	} {
		if args[0] == "ingest" {
			run(t.Context(), append([]string{"--config", settings}, append(args, "a=b")...), nil, &bytes.Buffer{}, &bytes.Buffer{})
			continue
		}
		for _, format := range []string{"csv", "json"} {
			var out, errs bytes.Buffer
			run(t.Context(), append(append([]string{"--config", settings}, args...), format), nil, &out, &errs)
			if format == "json" {
				if first, _, _ := bytes.Cut(out.Bytes(), []byte("\n")); !json.Valid(first) || !strings.Contains(out.String(), `=HYPERLINK`) {
					t.Errorf("%q: %.300s", args, &out)
				}
				continue
			}
			rows, err := csv.NewReader(&out).ReadAll()
			check(t, err)
			found := args[0] == "compare" || args[0] == "sla" // here names begin with a path
			for _, cell := range slices.Concat(rows...) {
				found = found || strings.HasPrefix(cell, "'"+formula)
				if strings.HasPrefix(cell, "=") {
					t.Errorf("%q: %s", args, cell)
				}
			}
			if !found {
				t.Errorf("%q %s: no cell has the name\n%s", args, format, &errs)
			}
		}
	}
}
