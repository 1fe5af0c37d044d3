package evidence_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// write returns a file that the user named.
func write(t *testing.T, name, text string) *evidence.File {
	t.Helper()
	at := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := source.Scan(t.Context(), []string{at}, source.Options{Named: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	if len(set.Files) != 1 {
		t.Fatalf("%d files", len(set.Files))
	}
	return evidence.Of(set.Files[0])
}

const report = `{"fio version":"fio-3.33","timestamp":1700000000,"timestamp_ms":1700000000123,"jobs":[{"jobname":"j","elapsed":3,
"job options":{"write_hist_log":"x"},"read":{"total_ios":5,"runtime":2000}}]}`

// TestLook: what the beginning of a file says that it is.
func TestLook(t *testing.T) {
	for text, want := range map[string]fiolog.Content{
		"1000, 0, 4096" + strings.Repeat(", 7", 1856) + "\n": fiolog.Histograms,
		"1, 12345, 0, 4096\n":                                fiolog.Completions,
		report:                                               fiolog.Output,
		"a, b, c, d\n":                                       fiolog.Unknown,
		"":                                                   fiolog.Unknown,
	} {
		f := write(t, "x", text)
		got := f.Look()
		if got.Content != want || f.IsEmpty() != (text == "") || got.Foreign != "" {
			t.Errorf("%.40q: %+v, want %d", text, got, want)
		}
	}
	if got := write(t, "x", "1a\t"+report[:14]); got.IsReport() {
		t.Error("a part of a report is taken for one")
	}
	if got := write(t, "x.log", "[pod/fio-1] fio version\n").Look().Foreign; !strings.Contains(got, "sed") {
		t.Errorf("lines of kubectl: %q", got)
	}
}

// TestOnce: one look has all that is asked of a report, and a file that has changed is read again.
func TestOnce(t *testing.T) {
	f := write(t, "out.json", report+"\n"+report+"\nx")
	if c := f.Claims(); !c.IsReport || !c.IsParsed || !c.Values["x"] || c.IsCut {
		t.Errorf("%+v", c)
	}
	first := f.Printed(t.Context())
	if len(first.Executions) != 1 || len(first.Executions[0].Times) != 1 || len(first.Errors) != 0 {
		t.Fatalf("%+v: a report that is there twice counts once", first)
	}
	if again := f.Printed(t.Context()); again != first {
		t.Error("read again")
	}
	if d := f.Digest(); d.Size != int64(2*len(report)+3) || d.Hash == "" {
		t.Errorf("%+v", d)
	}
	whole := f.Digest()
	later := strings.Replace(report, "1700000000123", "1700000001123", 1)
	if err := os.WriteFile(f.Disk, []byte(report+later), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := f.Printed(t.Context()).Executions; len(got) != 1 || len(got[0].Times) != 2 {
		t.Errorf("%+v, want two reports of one fio", got)
	}
	if d := f.Digest(); d == whole {
		t.Error("the content has changed, and its hash has not")
	}
}
