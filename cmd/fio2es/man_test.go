package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestMan: every command and topic that help lists has a page with all its flags, and no text becomes a request of
// roff.
func TestMan(t *testing.T) {
	dir := t.TempDir()
	if code := run(t.Context(), []string{"man", dir}, strings.NewReader(""), os.Stderr, os.Stderr); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	requests := strings.Fields(".TH .SH .TP .PP .nf .fi .nh .ad")
	root := rootCommand(newEnv(strings.NewReader(""), os.Stdout, os.Stderr))
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Hidden {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, manName(cmd)+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		page := string(text)
		if !strings.HasPrefix(page, ".TH "+roff(strings.ToUpper(manName(cmd)))+` 1 "2026-11-22" "fio2es v0.0.0-test"`) {
			t.Errorf("%s begins with %.60s", cmd.Name(), page)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, roff("--"+f.Name)+`\fR`) {
				t.Errorf("%s has no --%s", cmd.Name(), f.Name)
			}
		})
		for line := range strings.Lines(page) {
			if request, _, _ := strings.Cut(strings.TrimSpace(line), " "); line[0] == '\'' || line[0] == '.' && !slices.Contains(requests, request) {
				t.Errorf("%s: %s", cmd.Name(), line)
			}
		}
	}
	if pages, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(pages) < len(root.Commands()) {
		t.Errorf("%d pages, %v", len(pages), err)
	}
}

func TestManPage(t *testing.T) {
	cmd := &cobra.Command{Use: "try X", Short: "Tries", Long: "Tries 'x'.\n.dots and \\.\n\n  a-b   ~c\n\nEnd.", Run: func(*cobra.Command, []string) {}}
	(&cobra.Command{Use: "fio2es"}).AddCommand(cmd)
	cmd.Flags().IntP("number", "n", 3, "so `MANY`")
	page := manPage(cmd)
	for _, want := range []string{
		".SH NAME\nfio2es\\-try \\- Tries\n", ".SH SYNOPSIS\n\\fBfio2es try X [flags]\\fR\n",
		".SH DESCRIPTION\nTries \\(aqx\\(aq.\n\\&.dots and \\e.\n.PP\n.nf\n  a\\-b   \\(tic\n.fi\n.PP\nEnd.\n",
		".TP\n\\fB\\-n, \\-\\-number\\fR \\fIMANY\\fR\nso MANY (default 3)\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}
