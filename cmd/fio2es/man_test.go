package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
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
		if cmd.IsAdditionalHelpTopicCommand() {
			helpOf(t, cmd) // makes the text
		}
		cmd.Long = markdown(cmp.Or(cmd.Long, cmd.Short+"."))
		cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = markdown(strings.ReplaceAll(f.Usage, "`", "")) })
		for _, c := range cmd.Commands() {
			prepare(c)
		}
	}
	prepare(root)
	header := doc.GenManHeader{Section: "1", Source: "fio2es " + os.Getenv("VERSION"), Manual: "fio2es manual"}
	check(t, doc.GenManTree(root, &header, dir))
	sections := manualSections(t)
	expect(t, "sections", sections, "\n.B 4\ndone, but a gate failed: ", "FIO2ES_ELASTICSEARCH_API_KEY_FILE")
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
		before, related, _ := strings.Cut(string(text), ".SH SEE ALSO")
		if related != "" {
			related = ".SH SEE ALSO" + related
		}
		text = []byte(before + sections + related)
		check(t, os.WriteFile(file, text, 0o644))
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

// manualSections returns the sections that each page of the manual ends with.
func manualSections(t *testing.T) string {
	var b strings.Builder
	items := func(heading string, pairs ...string) {
		fmt.Fprintf(&b, ".SH %s\n", heading)
		for i := 0; i < len(pairs); i += 2 {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(pairs[i]), roff(pairs[i+1]))
		}
	}
	_, codes, _ := strings.Cut(readText(t, filepath.Join("..", "..", "docs", "messages.md")), "\n| exit code | meaning |\n|---|---|\n")
	codes, _, _ = strings.Cut(codes, "\n\n")
	var exit []string
	for line := range strings.Lines(codes) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), "`", ""), "|")
		exit = append(exit, strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]))
	}
	items("EXIT STATUS", exit...)
	var settings []string
	for _, name := range config.Names() {
		settings = append(settings, config.Variable(name))
	}
	items("ENVIRONMENT",
		strings.Join(settings, ", "), "the settings, which fio2es help settings explains; fio2es config shows those that are in effect",
		"FIO2ES_CONFIG", "the settings file, in place of those below",
		"XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME", "folders of settings, of the history, and of what can be removed, in place of ~/.config, ~/.local/share and ~/.local/state",
		"TMPDIR", "where what is unpacked of archives waits; default /tmp",
		"NO_COLOR", "if it is set, no colours",
		"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "proxies to Elasticsearch and Kibana")
	items("FILES",
		"~/.config/fio2es/fio2es.yaml", "settings",
		"./fio2es.yaml", "settings of how runs are analysed, which have precedence",
		"~/.local/share/fio2es/history.db", "the embedded history",
		"~/.local/share/fio2es/runs", "what fio wrote under fio2es run",
		"~/.local/state/fio2es/ingests-*.db", "what ingests into a cluster have read, which can be removed",
		"/etc/fio2es, /var/lib/fio2es", "settings and history of the services fio2es@COMMAND of systemd")
	b.WriteString("On macOS all of the user's folders are ~/Library/Application Support.\n")
	return b.String()
}

// roff returns a text of the manual, in which no character has a meaning for roff.
func roff(text string) string { return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text) }

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
