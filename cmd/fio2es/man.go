package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand writes the manual for packages. It is hidden, because users of a package have the manual.
func manCommand(*env) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual, a page for each command", Hidden: true,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return writeMan(cmd.Root(), args[0]) },
	}
}

// writeMan writes the manual into a folder: a page for the program, and one for each command and topic, with the
// texts of --help.
func writeMan(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Hidden {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, manName(cmd)+".1"), []byte(manPage(cmd)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the page of a command in roff.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	built := thisBuild()
	fmt.Fprintf(&b, ".TH %s 1 %q %q \"fio2es manual\"\n", roff(strings.ToUpper(manName(cmd))), built.date[:min(10, len(built.date))], "fio2es "+built.version)
	fmt.Fprintf(&b, ".nh\n.ad l\n.SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	if cmd.Runnable() || cmd.HasSubCommands() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fR\n", roff(cmd.UseLine()))
	}
	b.WriteString(".SH DESCRIPTION\n" + roffText(cmp.Or(cmd.Long, cmd.Short+".")))
	if cmd.HasExample() {
		b.WriteString(".SH EXAMPLES\n" + roffText(cmd.Example))
	}
	if cmd.HasSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range cmd.Commands() {
			if !c.Hidden {
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(c.Name()), roff(c.Short))
			}
		}
	}
	if cmd.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		cmd.InitDefaultHelpFlag()
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { b.WriteString(manFlag(f)) })
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { b.WriteString(manFlag(f)) })
	}
	if cmd.HasParent() {
		b.WriteString(".SH SEE ALSO\n\\fBfio2es\\fR(1), \\fBfio2es\\-fields\\fR(1)\n")
	}
	return b.String()
}

// manFlag returns the entry of a flag, or "" for a hidden one.
func manFlag(f *pflag.Flag) string {
	if f.Hidden {
		return ""
	}
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	value, text := flagText(f)
	if value != "" {
		value = " \\fI" + roff(value) + "\\fR"
	}
	return fmt.Sprintf(".TP\n\\fB%s\\fR%s\n%s\n", roff(name), value, roff(text))
}

// roffText returns a text in roff. Paragraphs with a layout stay as they are; others are filled.
func roffText(text string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		begin, end := "", ""
		if hasLayout(paragraph) {
			begin, end = ".nf\n", ".fi\n"
		}
		b.WriteString(begin)
		for line := range strings.Lines(paragraph) {
			b.WriteString(roff(strings.TrimRight(line, "\n")) + "\n")
		}
		b.WriteString(end)
	}
	return b.String()
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`)

// roff escapes a line for roff.
func roff(line string) string {
	line = roffEscapes.Replace(strings.ReplaceAll(line, "\n", " "))
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
