package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/where"
)

// helpColumns is the width of help, which every terminal has.
const helpColumns = 80

// helpCommand makes cobra's command help fail for a command that does not exist.
func helpCommand(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Use, help.Short, help.Long = "help [COMMAND | TOPIC]", "Help on a command, or on a topic", ""
	help.Run = nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		cmd, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = cobra.NoArgs(cmd, rest)
		}
		if err != nil {
			return err
		}
		return cmd.Help()
	}
}

// writeHelp writes the help of a command: what it does, examples, details, its own flags, and the names of shared
// flags.
func writeHelp(w io.Writer, cmd *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", wrapped(cmd.Short+"."))
	if cmd.Runnable() || cmd.HasSubCommands() {
		fmt.Fprintf(&b, "\nUsage:\n  %s\n", cmd.UseLine())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	helpOnCommands(&b, cmd)
	if cmd.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", wrapped(strings.TrimSpace(cmd.Long)))
	}
	if cmd.Runnable() || cmd.HasSubCommands() {
		cmd.InitDefaultHelpFlag()
		helpOnFlags(&b, cmd)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// helpOnCommands lists the commands below one. Those of a group are under its title.
func helpOnCommands(b *strings.Builder, cmd *cobra.Command) {
	list := func(title string, is func(*cobra.Command) bool) {
		for _, c := range cmd.Commands() {
			if c.Hidden || !is(c) {
				continue
			}
			if title != "" {
				fmt.Fprintf(b, "\n%s:\n", title)
				title = ""
			}
			b.WriteString(entry(fmt.Sprintf("  %-12s ", c.Name()), c.Short))
		}
	}
	for _, group := range cmd.Groups() {
		list(group.Title, func(c *cobra.Command) bool { return c.GroupID == group.ID })
	}
	list("Commands", func(c *cobra.Command) bool { return c.GroupID == "" && c.IsAvailableCommand() })
	list("Help on", (*cobra.Command).IsAdditionalHelpTopicCommand)
}

// helpOnFlags explains the flags of a command, and lists the names of shared ones.
func helpOnFlags(b *strings.Builder, cmd *cobra.Command) {
	var own []*pflag.Flag
	others := map[string][]string{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		heading := setsAll
		switch {
		case f.Hidden:
			return
		case len(f.Annotations[setsOf]) > 0:
			heading = f.Annotations[setsOf][0]
		case f.Name != "help" && cmd.InheritedFlags().Lookup(f.Name) == nil && cmd.Root().PersistentFlags().Lookup(f.Name) != f:
			own = append(own, f)
			return
		}
		others[heading] = append(others[heading], "--"+f.Name)
	})
	if len(own) > 0 {
		fmt.Fprintf(b, "\nFlags:\n%s", flagLines(own))
	}
	fmt.Fprintf(b, "\nShared flags (\"fio2es help settings\" explains them, and all settings):\n")
	for _, heading := range []string{setsCluster, setsKibana, setsAll} {
		if len(others[heading]) > 0 {
			b.WriteString(entry(fmt.Sprintf("  %-17s  ", heading), strings.Join(others[heading], " ")))
		}
	}
}

func flagLines(flags []*pflag.Flag) string {
	const widest = 26
	var names, texts []string
	width := 0
	for _, f := range flags {
		value, text := flagText(f)
		name := "  --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		names, texts = append(names, strings.TrimRight(name+" "+value, " ")), append(texts, text)
		if n := len(names[len(names)-1]); n <= widest {
			width = max(width, n)
		}
	}
	var b strings.Builder
	for i, name := range names {
		if len(name) > width {
			b.WriteString(name + "\n")
			name = ""
		}
		b.WriteString(entry(fmt.Sprintf("%-*s  ", width, name), texts[i]))
	}
	return b.String()
}

// flagText returns the name of a flag's value, and the text about the flag with its default.
func flagText(f *pflag.Flag) (value, text string) {
	value, text = pflag.UnquoteUsage(f)
	value = strings.ToUpper(value)
	byDefault := strings.Trim(f.DefValue, "[]")
	if slices.Contains([]string{"", "0", "0s", "false"}, byDefault) || strings.Contains(text, "(default") {
		return value, text
	}
	if f.Value.Type() == "duration" && strings.HasSuffix(byDefault, "m0s") {
		byDefault = strings.TrimSuffix(byDefault, "0s")
	}
	return value, text + " (default " + byDefault + ")"
}

// entry returns a text after a name, with further lines below the first.
func entry(name, text string) string {
	indent := utf8.RuneCountInString(name)
	return name + strings.Join(term.Fill(text, helpColumns-indent), "\n"+strings.Repeat(" ", indent)) + "\n"
}

// wrapped fills the paragraphs of a text. Those with a layout stay as they are.
func wrapped(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !hasLayout(p) {
			paragraphs[i] = strings.Join(term.Fill(p, helpColumns), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// hasLayout reports whether a paragraph has columns or indented lines.
func hasLayout(paragraph string) bool {
	return strings.Contains(" "+paragraph, "  ") || strings.Contains(paragraph, "\n ") || strings.Contains(paragraph, "\t")
}

// fieldsTopic is the help on conditions: fio2es help fields.
func fieldsTopic(*env) *cobra.Command {
	var b strings.Builder
	b.WriteString(`Conditions of --where, such as

  bs=4k and iodepth in (16, 32) and write.p99 > 5ms and start >= 2026-10
  label.release=reef and not (mode ~ rand or complete=no)

Comparisons are =, !=, <, <=, >, >= and in (A, B); ~ and !~ look for a text, in any
case. "and" goes before "or"; parentheses and "not" as usual. A name alone means
that the run has it. Texts and names with spaces need quotes: 'label.my rack'='New York'. A
run that lacks a field differs from every value: it meets !=, and no other comparison.

Sizes are 4k, 4KiB (both 4096) or 4KB (4000), latencies 300us or 5ms, durations 90s,
10m or 2h, rates 500 or 20k (k is 1000), times 2026, 2026-10, 2026-10-01,
2026-10-01T09:12:00Z, today, yesterday, or 7d, 2w, 3mo, 1 year (ago).

Fields:
`)
	for _, f := range where.Fields {
		if d, _, ok := strings.Cut(f.Name, "."); ok && (d == "read" || d == "write" || d == "trim") {
			continue
		}
		name := strings.Join(append([]string{f.Name}, f.Aliases...), ", ")
		b.WriteString(entry(fmt.Sprintf("  %-18s %-9s ", name, f.Kind), f.Help))
	}
	b.WriteString(`
Fields of all requests also exist for each direction: write.p99, read.iops.
docs/fields.md has them all, with their names in documents and in Kibana.`)
	return &cobra.Command{Use: "fields", Short: "Conditions of --where, and the fields that they can name", Long: b.String()}
}

// settingsTopic is the help on settings, most of which have no flag: fio2es help settings.
func settingsTopic(*env) *cobra.Command {
	var b strings.Builder
	b.WriteString(`A setting is a flag, else FIO2ES_* in the environment, else an entry of fio2es.yaml, else its default. ` +
		`"fio2es config" shows the effective ones, their names and where each is from; "fio2es config --help" says which files are read. ` +
		`Most settings have no flag: FIO2ES_UNIT=us, or unit: us in the file.

How logs are read:
`)
	defaults := config.Settings(config.Default())
	for _, s := range [][2]string{
		{"source", "which logs to use if a run has both: hist, histogram logs or periodic reports; raw, completion logs"},
		{"precision", "with interval auto: target accuracy per window, such as p99 within ±10%"},
		{"weighting", "how requests count in windows: inflight, by the share of their time in it; completion, where they completed"},
		{"inflight", "which requests inflight weighting spreads: long, those longer than a window; all"},
		{"tolerance", "share of its length by which a row may reach beyond a window without being cut"},
		{"align", "how jobs are put side by side: run, by wall-clock time; job, each from its own start"},
		{"method", "percentiles: interpolated within bins, or as fio prints them"},
		{"start", "start of the run (RFC 3339), if its files do not say"},
		{"offset", "corrections of hosts' clocks in milliseconds, such as client01=-250"},
		{"groups", "groups of bins (17 to 64) of a rebuilt fio, if neither the logs' columns nor fio's report say"},
		{"unit", "unit of the latencies, if neither the logs' columns nor fio's report say: ns (fio 3) or us (fio 2)"},
	} {
		text := s[1]
		if value := fmt.Sprint(defaults[s[0]]); value != "" && value != "0" && value != "map[]" {
			text += " (default " + value + ")"
		}
		b.WriteString(entry(fmt.Sprintf("  %-11s", s[0]), text))
	}
	b.WriteString(`  interval, threads, archive, labels, levels, sla: see ingest and sla --help

A fio2es.yaml in the current folder may set only these. All settings of Elasticsearch and Kibana, such as ` +
		`elasticsearch.request_timeout (FIO2ES_ELASTICSEARCH_REQUEST_TIMEOUT), are in docs/elasticsearch.md and docs/kibana.md. Passwords and keys ` +
		`have no flags, because other users of a machine can see these.`)
	for _, part := range []struct {
		heading string
		add     func(*pflag.FlagSet)
	}{{"Elasticsearch", addClusterFlags}, {"Kibana", addKibanaFlags}, {"Every command", addGlobalFlags}} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		part.add(flags)
		var list []*pflag.Flag
		flags.VisitAll(func(f *pflag.Flag) { list = append(list, f) })
		fmt.Fprintf(&b, "\n\n%s:\n%s", part.heading, strings.TrimRight(flagLines(list), "\n"))
	}
	return &cobra.Command{Use: "settings", Short: "Settings, and flags that many commands share", Long: b.String()}
}
