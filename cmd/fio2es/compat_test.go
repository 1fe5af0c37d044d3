package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/compat"
)

// TestCompatTools compares with the recorded output of fio's tools for the same logs (testdata/tools), byte by byte: with their
// defaults, with some percentiles, and with other options.
func TestCompatTools(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "testdata")
	text, err := os.ReadFile(filepath.Join(root, "tools", "options.txt"))
	check(t, err)
	recorded := map[string]string{} // output by "TOOL RUN OPTIONS"
	call := ""
	for line := range strings.Lines(string(text)) {
		if next, isCall := strings.CutPrefix(line, "$ "); isCall {
			call = strings.TrimSpace(next)
			continue
		}
		recorded[call] += line
	}
	files, err := filepath.Glob(filepath.Join(root, "tools", "*.*.txt"))
	check(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		parts := strings.Split(filepath.Base(file), ".") // RUN.TOOL.txt or RUN.TOOL.defaults.txt
		options := " --percentiles 50,90,95,99"
		if parts[1] == compat.FioHistoLogPctiles {
			options = " --log-hist-msec 1000 --percentiles 50 90 95 99 100"
		}
		if parts[2] == "defaults" {
			options = ""
		}
		recorded[parts[1]+" "+parts[0]+options] = string(text)
	}
	if len(recorded) != 11+12 {
		t.Errorf("%d recorded outputs", len(recorded))
	}
	for call, want := range recorded {
		args := strings.Fields(call)
		tool, of := args[0], args[1]
		pattern := "*_clat_hist.*"
		if of == "cbt-archive" {
			pattern = "results/00000000/id-7c1f03ab/*_clat_hist.*"
		}
		logs, err := filepath.Glob(filepath.Join(root, "corpus", of, pattern))
		check(t, err)
		args = append([]string{"percentiles", "--compat", tool, "--"}, args[2:]...)
		if tool == compat.FioHistoLogPctiles {
			args = append(args, "--")
		}
		var out, errs strings.Builder
		if code := run(t.Context(), append(args, logs...), strings.NewReader(""), &out, &errs); code != 0 || errs.Len() > 0 {
			t.Errorf("%s: exit code %d: %s", call, code, errs.String())
		}
		want = strings.Replace(want, "Sat Nov 21 03:11:49 2026", time.Unix(1795230709, 0).Format(time.ANSIC), 1) // the tool has local times
		if out.String() != want {
			t.Errorf("%s:\n%sthe tool prints\n%s", call, &out, want)
		}
	}
}
