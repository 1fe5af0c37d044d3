package main

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// TestManual writes the manual, a page for each command and topic, with the texts of --help. Packages contain it:
// .ci/release names the folder in FIO2ES_TEST_MANUAL. It is a test because cobra writes manuals with a library for
// Markdown, which the program does not need.
func TestManual(t *testing.T) {
	dir := cmp.Or(os.Getenv("FIO2ES_TEST_MANUAL"), t.TempDir())
	check(t, os.MkdirAll(dir, 0o755))
	root := rootCommand(newEnv(strings.NewReader(""), io.Discard, io.Discard))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var prepare func(cmd *cobra.Command)
	prepare = func(cmd *cobra.Command) {
		cmd.DisableAutoGenTag = true
		cmd.Long = markdown(cmp.Or(cmd.Long, cmd.Short+"."))
		cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = markdown(strings.ReplaceAll(f.Usage, "`", "")) })
		for _, c := range cmd.Commands() {
			prepare(c)
		}
	}
	prepare(root)
	header := doc.GenManHeader{Section: "1", Source: "fio2es " + os.Getenv("VERSION"), Manual: "fio2es manual"}
	check(t, doc.GenManTree(root, &header, dir))
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		file := filepath.Join(dir, name+".1")
		if cmd.IsAdditionalHelpTopicCommand() { // cobra leaves these out
			var page bytes.Buffer
			check(t, doc.GenMan(cmd, &header, &page))
			check(t, os.WriteFile(file, page.Bytes(), 0o644))
		}
		text, err := os.ReadFile(file)
		check(t, err)
		plain := strings.NewReplacer(`\-`, "-", `\fB`, "", `\fP`, "").Replace(string(text))
		expect(t, cmd.Name(), plain, "\n"+name+" - ")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				expect(t, cmd.Name(), plain, "--"+f.Name)
			}
		})
	}
	trend, err := os.ReadFile(filepath.Join(dir, "fio2es-sla.1"))
	check(t, err)
	expect(t, "a table stays one", string(trend), "iops >= 5k in every window\n", "Operators are <, <=, > and >=")
}

// specials are the characters of texts that mean something in Markdown.
var specials = regexp.MustCompile("[\\\\*_<>\\[\\]#~|`]")

// markdown returns a text of help in Markdown: tables become code, and nothing else has a meaning.
func markdown(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if hasLayout(p) {
			paragraphs[i] = "\t" + strings.ReplaceAll(p, "\n", "\n\t")
		} else {
			paragraphs[i] = specials.ReplaceAllString(p, `\$0`)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}
