package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpColumns is the width of help, which every terminal has.
const helpColumns = 80

// setsOf is the annotation of a flag that many commands share. Its value is the heading under which help lists the
// flag.
const setsOf = "fio2es_sets"

// Headings of flags that many commands share, in the order of help.
const (
	setsReading = "how logs are read"
	setsCluster = "Elasticsearch"
	setsKibana  = "Kibana"
	setsAll     = "every command"
)

// shared adds flags that many commands share. Help only lists their names under a heading; "fio2es help settings"
// explains them. Those in own are also explained with the flags of the command.
func shared(f *pflag.FlagSet, heading string, add func(*pflag.FlagSet), own ...string) {
	part := pflag.NewFlagSet("", pflag.ContinueOnError)
	add(part)
	part.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(own, flag.Name) {
			flag.Annotations = map[string][]string{setsOf: {heading}}
		}
	})
	f.AddFlagSet(part)
}

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
	fmt.Fprintf(b, "\nSettings (\"fio2es help settings\" explains them):\n")
	for _, heading := range []string{setsReading, setsCluster, setsKibana, setsAll} {
		if len(others[heading]) > 0 {
			b.WriteString(entry(fmt.Sprintf("  %-17s  ", heading), strings.Join(others[heading], " ")))
		}
	}
}
