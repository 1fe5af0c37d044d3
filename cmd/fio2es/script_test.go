package main

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/golden"
)

// TestScripts runs the scripts in testdata/script: commands and their expected output. fio2es and generate run in this
// process, in the script's folder and with its variables, so one script comes after the other. exec fio2es is a process,
// for scripts that give it signals or stdin.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	check(t, err)
	dir := filepath.Join("testdata", "script")
	s := scripts{t, variables(t, dir)}
	for _, name := range s.variables {
		t.Setenv(name, "") // restored after the test
	}
	testscript.RunT(s, testscript.Params{
		Dir:           dir,
		UpdateScripts: golden.Update(),
		Setup: func(e *testscript.Env) error {
			e.Setenv("ARCHIVE", filepath.Join(root, "examples", "cbt-archive"))
			e.Setenv("CORPUS", filepath.Join(root, "testdata", "corpus"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "data"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fio2es": s.fio2es, "generate": s.generate, "exits": s.exits, "lines": lines, "gunzip": gunzip,
		},
	})
}

// variables returns the names of all variables that the scripts in a folder set, and of those that they begin with.
func variables(t *testing.T, dir string) []string {
	t.Helper()
	names := []string{"ARCHIVE", "CORPUS", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME", "PWD", "TMPDIR"}
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	check(t, err)
	for _, file := range files {
		for line := range strings.Lines(readText(t, file)) {
			if settings, ok := strings.CutPrefix(line, "env "); ok {
				for word := range strings.FieldsSeq(settings) {
					name, _, _ := strings.Cut(word, "=")
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// scripts is a [testscript.T] whose tests run one after the other.
type scripts struct {
	*testing.T
	variables []string
}

func (s scripts) Parallel()     {}
func (s scripts) Verbose() bool { return testing.Verbose() }
func (s scripts) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(scripts{t, s.variables}) })
}

// enter makes a script's folder and variables those of this process. The function that it returns leaves the folder.
func (s scripts) enter(ts *testscript.TestScript) (leave func()) {
	for _, name := range s.variables {
		if value := ts.Getenv(name); value != "" {
			ts.Check(os.Setenv(name, value))
		} else {
			ts.Check(os.Unsetenv(name))
		}
	}
	before, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	return func() { ts.Check(os.Chdir(before)) }
}

func (s scripts) run(ts *testscript.TestScript, args []string) (code int) {
	defer s.enter(ts)()
	return run(s.Context(), args, strings.NewReader(""), ts.Stdout(), ts.Stderr())
}

// fio2es runs the program: fio2es ARGUMENT...
func (s scripts) fio2es(ts *testscript.TestScript, neg bool, args []string) {
	if code := s.run(ts, args); (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
}

// generate makes logs: generate KIND FOLDER...
func (s scripts) generate(ts *testscript.TestScript, neg bool, args []string) {
	defer s.enter(ts)()
	ts.Check(fiotest.Generate(args, ts.Stdout()))
}

// exits runs the program, which must end with an exit code: exits CODE [exec] fio2es ARGUMENT...
func (s scripts) exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: exits CODE [exec] fio2es ARGUMENT...")
	}
	code := 0
	if args[1] == "fio2es" {
		code = s.run(ts, args[2:])
	} else if err := ts.Exec(args[2], args[3:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// lines checks how many lines the last command wrote to stdout: lines N.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lines N")
	}
	if got := strings.Count(ts.ReadFile("stdout"), "\n"); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%d lines, want %s", got, args[0])
	}
}

// gunzip unpacks a file into the script's folder: gunzip FILE.gz
func gunzip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gunzip FILE.gz")
	}
	in, err := os.Open(args[0])
	ts.Check(err)
	defer in.Close()
	unpacked, err := gzip.NewReader(in)
	ts.Check(err)
	data, err := io.ReadAll(unpacked)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(strings.TrimSuffix(filepath.Base(args[0]), ".gz")), data, 0o644))
}
