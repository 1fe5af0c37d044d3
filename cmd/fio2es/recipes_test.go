package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/golden"
)

// kitchen is the folder in which the commands of pages run.
type kitchen struct {
	*testing.T
	dir     string
	env     []string
	metrics string // output of serve
	printed string // by the last program in Python
}

// fence matches a block of code in Markdown: its language and its text.
var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```\n")

// TestRecipes runs every command of the pages on operating, comparing, matrices and other programs, one after the other, and compares
// the output of those in console blocks with the pages. -update writes the pages.
func TestRecipes(t *testing.T) {
	t.Parallel()
	k := newKitchen(t)
	made := map[string]bool{}
	for _, name := range []string{"operate.md", "compare.md", "measure.md", "programs.md"} {
		page := filepath.Join("..", "..", "docs", name)
		golden.File(t, page, fence.ReplaceAllStringFunc(readText(t, page), func(block string) string {
			m := fence.FindStringSubmatch(block)
			made[m[1]] = true
			switch m[1] {
			case "console":
				return "```console\n" + k.console(m[2]) + "```\n"
			case "sh":
				if code, out := k.shell("set -e\n" + m[2]); code != 0 && code != exitMet {
					t.Errorf("%s: exit code %d of\n%s%s", name, code, m[2], out)
				}
			case "crontab":
				k.crontab(m[2])
			case "yaml":
				k.yaml(m[2])
			case "python":
				k.python(m[2])
			case "text":
				if name == "programs.md" {
					return "```text\n" + k.pivot() + "```\n"
				}
			default:
				t.Errorf("%s: nothing checks a block of %s", name, m[1])
			}
			return block
		}))
	}
	if len(made) != 6 {
		t.Errorf("blocks of %v", made)
	}
}

// newKitchen makes a folder with archives in results, logs in main and pr, stages in staged, and a history of twelve nights.
func newKitchen(t *testing.T) *kitchen {
	t.Helper()
	k := &kitchen{T: t, dir: t.TempDir()}
	k.env = append(os.Environ(), "HOME="+k.dir, "XDG_DATA_HOME=", "XDG_CONFIG_HOME="+k.dir, "PR=7")
	for name, from := range map[string]string{"main": "two-jobs-rw", "pr": "stalls", "staged": "stonewall"} {
		check(t, os.CopyFS(filepath.Join(k.dir, name), os.DirFS(filepath.Join("..", "..", "testdata", "corpus", from))))
	}
	generated(t, fiotest.ArchiveSpec{Runs: 4, Hosts: 2, Jobs: 1, Seconds: 10, IOPS: 100}, filepath.Join(k.dir, "results"))
	now := time.Now().UTC().Truncate(time.Hour)
	for night := range 12 {
		log := fiotest.LogSpec{Seconds: 20, IOPS: 200, Directions: []int{fiotest.Write}, Seed: uint64(night+1) << 32}
		_, err := log.WriteDir(filepath.Join(k.dir, "night"), 1)
		check(t, err)
		start := now.AddDate(0, 0, night-11).Format(time.RFC3339)
		settings := filepath.Join(k.dir, "night.yaml")
		check(t, os.WriteFile(settings, fmt.Appendf(nil, "start: %s\nsla: [p99 <= 1s]\n", start), 0o666))
		callWith(t, settings, "ingest", "--history", filepath.Join(k.dir, ".local", "share", "fio2es", "history.db"), filepath.Join(k.dir, "night"))
	}
	for name, script := range map[string]string{ // replacements of programs that this machine may lack
		"gh":       `test "$1 $2 $3 $4" = "pr comment 7 --body-file" && grep -q "2 failed" "$5"`,
		"promtool": `test "$1 $2 $3 $5" = "tsdb create-blocks-from openmetrics data" && tail -1 "$4" | grep -q "# EOF"`,
	} {
		check(t, os.WriteFile(filepath.Join(k.dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	check(t, os.WriteFile(filepath.Join(k.dir, "benchmark.sh"), []byte("#!/bin/sh\ntest -d \"$1\"\n"), 0o755))
	return k
}

// shell runs a script, and returns its exit code and its output.
func (k *kitchen) shell(script string) (code int, out string) {
	k.Helper()
	cmd := exec.CommandContext(k.Context(), "sh", "-c", `PATH="$PWD:$PATH"`+"\n"+script)
	cmd.Dir, cmd.Env = k.dir, k.env
	text, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), string(text)
	}
	if err != nil {
		k.Fatal(err)
	}
	return 0, string(text)
}

// console runs the lines that begin with $, and returns them with their output.
func (k *kitchen) console(block string) string {
	var made strings.Builder
	for line := range strings.Lines(block) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			code, out := k.shell(command)
			if code != 0 {
				k.Errorf("exit code %d of %s%s", code, line, out)
			}
			made.WriteString(line + out)
		}
	}
	return made.String()
}

func (k *kitchen) crontab(block string) {
	for line := range strings.Lines(block) {
		at := schedule.FindString(line)
		code, out := k.shell(line[len(at):])
		if at == "" || code != 0 || !strings.Contains(line, "fio2es ") {
			k.Errorf("exit code %d of %s%s", code, line, out)
		}
	}
}

// serve gets the metrics of the history as it is now.
func (k *kitchen) serve() {
	args := []string{"serve", "--listen", "127.0.0.1:0", "--history", filepath.Join(k.dir, ".local", "share", "fio2es", "history.db")}
	ctx, stop := context.WithCancel(k.Context())
	ended, stderr := make(chan int, 1), &lockedText{}
	go func() { ended <- run(ctx, args, strings.NewReader(""), stderr, stderr) }()
	defer func() {
		stop()
		if code := <-ended; code != 0 {
			k.Errorf("exit code %d: %s", code, stderr)
		}
	}()
	for { // until it listens or ends
		if m := servedAt.FindStringSubmatch(stderr.String()); m != nil {
			_, k.metrics = browse(k.T, m[1]+"metrics")
			return
		}
		select {
		case code := <-ended:
			ended <- code
			k.Fatalf("it ended: %s", stderr)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// recipeYAML has the parts of the YAML blocks that are checked: jobs of CI, scraping and alerts of Prometheus.
type recipeYAML struct {
	Jobs map[string]struct {
		Steps []struct {
			Run string
		}
	}
	ScrapeConfigs []struct {
		ScrapeInterval string `yaml:"scrape_interval"`
		StaticConfigs  []struct {
			Targets []string
		} `yaml:"static_configs"`
	} `yaml:"scrape_configs"`
	Groups []struct {
		Rules []struct{ Expr string }
	}
	SLA []string // TestSLADocumented checks these
}

func (k *kitchen) yaml(block string) {
	var y recipeYAML
	if err := yaml.Unmarshal([]byte(block), &y); err != nil {
		k.Fatal(err)
	}
	for _, job := range y.Jobs {
		for _, step := range job.Steps {
			if code, out := k.shell(step.Run); code != 0 && code != exitMet {
				k.Errorf("exit code %d of %s\n%s", code, step.Run, out)
			}
		}
	}
	for _, s := range y.ScrapeConfigs {
		every, err := time.ParseDuration(s.ScrapeInterval)
		if err != nil || every >= 5*time.Minute || !strings.HasSuffix(s.StaticConfigs[0].Targets[0], ":8600") {
			k.Errorf("%+v", s)
		}
	}
	if y.Groups != nil {
		k.serve()
	}
	for _, g := range y.Groups {
		for _, r := range g.Rules {
			for _, name := range regexp.MustCompile(`fio2es_\w+`).FindAllString(r.Expr, -1) {
				if !strings.Contains(k.metrics, "\n"+name+"{") {
					k.Errorf("%s: no %s in /metrics", r.Expr, name)
				}
			}
		}
	}
	if len(y.Jobs)+len(y.ScrapeConfigs)+len(y.Groups)+len(y.SLA) == 0 {
		k.Errorf("nothing checks\n%s", block)
	}
}

var quotedName = regexp.MustCompile(`(?:\[|by=|columns=|index=|values=|by\(|, |explode\(\[)"(\w+)"`)

// python checks that the columns which a program uses are in the files that it reads. With FIO2ES_TEST_PYTHON, which
// needs pandas, it runs the program after earlier ones.
func (k *kitchen) python(block string) {
	names := map[string]bool{"share": true}
	for _, file := range []string{"runs.csv", "windows.jsonl", "bins.jsonl"} {
		text, err := os.ReadFile(filepath.Join(k.dir, file))
		if err != nil {
			k.Fatal(err)
		}
		header, _, _ := bytes.Cut(text, []byte("\n"))
		for _, m := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(string(header), -1) {
			names[m[1]] = true
		}
		if filepath.Ext(file) == ".csv" {
			columns, err := csv.NewReader(bytes.NewReader(header)).Read()
			if err != nil {
				k.Fatal(err)
			}
			for _, name := range columns {
				names[name] = true
			}
		}
	}
	for _, m := range quotedName.FindAllStringSubmatch(block, -1) {
		if !names[m[1]] {
			k.Errorf("no column %s in\n%s", m[1], block)
		}
	}
	program := filepath.Join(k.dir, "program.py")
	before, err := os.ReadFile(program)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		k.Fatal(err)
	}
	if err := os.WriteFile(program, fmt.Appendf(before, "%s", block), 0o666); err != nil {
		k.Fatal(err)
	}
	if python := os.Getenv("FIO2ES_TEST_PYTHON"); python != "" {
		code, out := k.shell(python + " program.py")
		if code != 0 {
			k.Errorf("exit code %d of\n%s%s", code, block, out)
		}
		k.printed = out
	}
}

// pivot returns what the program before prints last: p99 of the first windows, one a line. With pandas it checks that it
// does. Both come from windows.jsonl, and no row of a whole run is in it.
func (k *kitchen) pivot() string {
	text, err := os.ReadFile(filepath.Join(k.dir, "windows.jsonl"))
	check(k.T, err)
	type window struct {
		Level, Direction string
		Start            int     `json:"start_ms"`
		P99              float64 `json:"p99_us"`
	}
	made := "direction     read    write\nstart_ms\n"
	for rows := range slices.Chunk(decoded[window](k.T, string(text))[:6], 2) {
		if rows[0].Level != "cluster" || rows[0].Direction != "read" || rows[1].Direction != "write" || rows[0].Start != rows[1].Start {
			k.Errorf("windows %+v", rows)
		}
		made += fmt.Sprintf("%-9d  %7.3f  %7.3f\n", rows[0].Start, rows[0].P99, rows[1].P99)
	}
	if printed := regexp.MustCompile(` +\n`).ReplaceAllString(k.printed, "\n"); printed != "" && !strings.HasSuffix(printed, made) {
		k.Errorf("printed\n%s\nwant at its end\n%s", printed, made)
	}
	return made
}
