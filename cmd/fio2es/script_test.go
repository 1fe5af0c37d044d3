package main

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// lines checks how many lines the last command wrote to stdout: lines N.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lines N")
	}
	if got := strings.Count(ts.ReadFile("stdout"), "\n"); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%d lines, want %s", got, args[0])
	}
}

// exits runs a command that must end with an exit code: exits CODE COMMAND...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
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
