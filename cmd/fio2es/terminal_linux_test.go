package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// onTerminal runs the program with its stdout on a terminal. It returns what the terminal shows, and stderr.
func onTerminal(t *testing.T, code int, args ...string) (shown, stderr string) {
	t.Helper()
	screen, terminal := openTerminal(t)
	var errs, out bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&out, screen) // returns an error when the terminal is closed
	}()
	if got := run(context.Background(), args, strings.NewReader(""), terminal, &errs); got != code {
		t.Errorf("exit code %d, want %d\n%s", got, code, &errs)
	}
	terminal.Close()
	<-done
	return out.String(), errs.String()
}

// TestColours: on a terminal with colours, only verdicts are coloured.
func TestColours(t *testing.T) {
	stalls, err := filepath.Abs(filepath.Join("..", "..", "testdata", "corpus", "stalls"))
	check(t, err)
	for _, tt := range []struct {
		name, value string
		hasColour   bool
	}{{"TERM", "xterm", true}, {"NO_COLOR", "1", false}, {"TERM", "dumb", false}} {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			t.Setenv("TERM", "xterm")
			t.Setenv("NO_COLOR", "")
			t.Setenv(tt.name, tt.value)
			shown, _ := onTerminal(t, exitMet, "sla", stalls, "--rule", "read.p99 <= 1us", "--rule", "read.iops >= 1")
			if strings.Contains(shown, "\x1b[31mbroken\x1b[0m") != tt.hasColour || strings.Contains(shown, "\x1b[32mmet\x1b[0m") != tt.hasColour ||
				strings.Count(shown, "\x1b") != 4 && tt.hasColour || !tt.hasColour && strings.Contains(shown, "\x1b") {
				t.Errorf("%q", shown)
			}
		})
	}
}

// TestMessagesOnTerminal: on a terminal, messages are broken into lines that fit. Elsewhere each has one line.
func TestMessagesOnTerminal(t *testing.T) {
	screen, terminal := openTerminal(t)
	var out bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&out, screen) // returns an error when the terminal is closed
	}()
	args := []string{"percentiles", "latest", "--history", filepath.Join(t.TempDir(), "none", "history.db")}
	code := run(t.Context(), args, strings.NewReader(""), io.Discard, terminal)
	terminal.Close()
	<-done
	_, line := outAndErr(t, code, args...)
	lines := strings.Split(strings.TrimSpace(out.String()), "\r\n")
	for _, l := range lines {
		if len(l) > 80 && strings.Contains(l, " ") {
			t.Errorf("%d characters: %s", len(l), l)
		}
	}
	if strings.Join(lines, " ") != strings.TrimSpace(line) || strings.Count(line, "\n") != 1 || len(lines) == 1 {
		t.Errorf("%q, want %q", lines, line)
	}
}

// TestReportOnTerminal: a page is not written to a terminal, but to a new file, which stderr names.
func TestReportOnTerminal(t *testing.T) {
	stalls, err := filepath.Abs(filepath.Join("..", "..", "testdata", "corpus", "stalls"))
	check(t, err)
	t.Chdir(t.TempDir())
	var pages [][]byte
	for _, name := range []string{"fio2es-stalls.html", "fio2es-stalls-2.html"} {
		shown, stderr := onTerminal(t, 0, "report", stalls)
		if shown != "" || !slices.Contains(strings.Split(stderr, "\n"), "the page is in "+name) {
			t.Errorf("%q, %q", shown, stderr)
		}
		page, err := os.ReadFile(name)
		check(t, err)
		pages = append(pages, page)
	}
	if !bytes.HasPrefix(pages[0], []byte("<!DOCTYPE html>")) || !bytes.Equal(pages[0], pages[1]) {
		t.Error("no pages, or different ones")
	}
}
