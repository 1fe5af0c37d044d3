package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// helpColumns is the width of help, which every terminal has.
const helpColumns = 80

// helpTemplate is cobra's, with examples before the details, for lines of helpColumns.
const helpTemplate = `{{wrapped .Short}}.
{{if or .Runnable .HasSubCommands}}
Usage:
  {{.UseLine}}
{{end}}{{if .HasExample}}
Examples:
{{.Example}}
{{end}}{{$all := .Commands}}{{range $group := .Groups}}
{{$group.Title}}:
{{range $all}}{{if eq .GroupID $group.ID}}  {{rpad .Name 12}} {{.Short}}
{{end}}{{end}}{{end}}{{if and .HasParent .HasAvailableSubCommands}}
Commands:
{{range $all}}{{if .IsAvailableCommand}}  {{rpad .Name 12}} {{.Short}}
{{end}}{{end}}{{end}}{{if .HasHelpSubCommands}}
Help on:
{{range $all}}{{if .IsAdditionalHelpTopicCommand}}  {{rpad .Name 12}} {{.Short}}
{{end}}{{end}}{{end}}{{with .Long}}
{{wrapped .}}
{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
{{end}}{{if .HasAvailableInheritedFlags}}
Flags of every command:
{{.InheritedFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
{{end}}`

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
		cmd.SetHelpTemplate(helpTemplate)
		return cmd.Help()
	}
}

// screenLines is how many lines a small terminal has, but for the next prompt.
const screenLines = 23

// brief is --help of a command: what fits a screen of 24 lines. "help COMMAND" has all.
func brief(cmd *cobra.Command) string {
	head := wrapped(cmd.Short) + ".\n\nUsage: " + cmd.UseLine() + "\n"
	tail := "\nFlags:\n" + briefFlags(cmd) + "\n\nAll of it: fio2es help " + cmd.Name() + "\n"
	room := screenLines - strings.Count(head+tail, "\n")
	examples := strings.Split(cmd.Example, "\n")
	if !cmd.HasExample() {
		examples = nil
	}
	// as many examples as leave room for the first sentence, but not fewer than two, and then more sentences
	middle := ""
	for n := min(len(examples), 3, room-2); n >= min(len(examples), 2); n-- {
		text := ""
		if n > 0 {
			text = "\nExamples:\n" + strings.Join(examples[:n], "\n") + "\n"
		}
		if middle == "" {
			middle = text // if no sentence fits
		}
		if what := sentences(cmd.Long, room-strings.Count(text, "\n")-1); what != "" {
			middle = text + "\n" + what + "\n"
			break
		}
	}
	return head + middle + tail
}

// sentences returns the first sentences of a text that fit that many lines. There may be none.
func sentences(text string, most int) (fit string) {
	paragraph, _, _ := strings.Cut(text, "\n\n")
	if hasLayout(paragraph) {
		return ""
	}
	paragraph = strings.ReplaceAll(paragraph, "\n", " ")
	for end := 0; end < len(paragraph); {
		n := strings.Index(paragraph[end:], ". ")
		if n < 0 {
			n = len(paragraph) - end - 1
		}
		end += n + 1
		lines := term.Fill(paragraph[:end], helpColumns)
		if len(lines) > most {
			break
		}
		fit = strings.Join(lines, "\n")
	}
	return fit
}

// briefFlags returns a line for each flag of a command's own, and the names of those that several commands have.
func briefFlags(cmd *cobra.Command) string {
	const several, most = 3, 16
	commands := map[string]int{}
	for _, one := range cmd.Root().Commands() {
		one.LocalFlags().VisitAll(func(f *pflag.Flag) { commands[f.Name]++ })
	}
	var lines, others []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if commands[f.Name] >= several || f.Name == "help" || cmd.LocalFlags().Lookup(f.Name) == nil || len(lines) == most {
			others = append(others, "--"+f.Name)
			return
		}
		what, usage := pflag.UnquoteUsage(f)
		for _, end := range []string{": ", "; ", " (", ", such as"} {
			usage, _, _ = strings.Cut(usage, end)
		}
		line := fmt.Sprintf("  %-24s %s", strings.TrimRight("--"+f.Name+" "+what, " "), usage)
		if term.Width(line) > helpColumns {
			line = term.Begin(line, helpColumns-1) + "…"
		}
		lines = append(lines, line)
	})
	if len(others) > 0 {
		lines = append(lines, strings.Join(term.Fill("also "+strings.Join(others, ", "), helpColumns-2), "\n  "))
		lines[len(lines)-1] = "  " + lines[len(lines)-1]
	}
	return strings.Join(lines, "\n")
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

// topic returns help on a subject. Its text takes a while to make, so it is made when it is asked for.
func topic(name, short string, text func() string) func(*env) *cobra.Command {
	return func(*env) *cobra.Command {
		cmd := &cobra.Command{Use: name, Short: short}
		show := cmd.HelpFunc()
		cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
			cmd.Long = text()
			show(cmd, args)
		})
		return cmd
	}
}

// fieldsText is the help on conditions: fio2es help fields.
func fieldsText() string {
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
	for _, f := range where.Fields() {
		if d, _, ok := strings.Cut(f.Name, "."); ok && slices.Contains(mapping.Directions[:], d) {
			continue
		}
		name := strings.Join(append([]string{f.Name}, f.Aliases...), ", ")
		b.WriteString(entry(fmt.Sprintf("  %-18s %-9s ", name, f.Kind), f.Help))
	}
	b.WriteString(`
Fields of all requests also exist for each direction: write.p99, read.iops.
docs/fields.md has them all, with their names in documents and in Kibana.`)
	return b.String()
}

// settingsText is the text of fio2es help settings. Most settings have no flag.
func settingsText() string {
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
		{"coarsen", "join bins, for less room: a coarseness as fio's, the largest error (5%), or 2 digits"},
		{"confidence", "documents have the intervals of percentiles with it, such as 0.95; 0: without them"},
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
		`elasticsearch.request_timeout (FIO2ES_ELASTICSEARCH_REQUEST_TIMEOUT), are in docs/elasticsearch.md and docs/kibana.md, and those of alerts in docs/live.md. Passwords and keys ` +
		`have no flags, because other users of a machine can see these.`)
	return b.String()
}
