package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/testcost"
)

func TestMain(m *testing.M) {
	// so that golden files are the same for every build
	release, commit, date = "v0.0.0-test", "0123456789abcdef", "2026-11-22T00:00:00Z"
	testcost.Lower()
	// A shell that starts tests in the background has them ignore this signal, and so the programs that they start.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	testscript.Main(isolated{m}, programs)
}

// programs are programs that scripts can run.
var programs = map[string]func(){
	"fio2es": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	"generate": func() {
		if err := fiotest.Generate(os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	},
}

// emptySettings is a settings file without settings.
var emptySettings string

// isolated runs tests without the user's settings and history.
type isolated struct{ *testing.M }

// Run implements [testscript.TestingM].
func (m isolated) Run() int {
	home, err := os.MkdirTemp("", "fio2es")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		os.Setenv(name, home)
	}
	emptySettings = filepath.Join(home, "empty.yaml")
	if err := os.WriteFile(emptySettings, nil, 0o600); err != nil {
		panic(err)
	}
	return m.M.Run()
}

// TestScripts runs the scripts in testdata/script: commands and their expected output.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: golden.Update(),
		Setup: func(e *testscript.Env) error {
			e.Setenv("ARCHIVE", filepath.Join(root, "examples", "cbt-archive"))
			e.Setenv("CORPUS", filepath.Join(root, "testdata", "corpus"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "data"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("GOGC", "400") // so that hundreds of short commands start faster
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"lines": lines, "exits": exits, "gunzip": gunzip},
	})
}
