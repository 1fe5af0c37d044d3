package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// flags makes shells complete the flags of a command: conditions, labels, and lists of words.
func (c completion) flags(cmd *cobra.Command) {
	known := map[string]cobra.CompletionFunc{
		"direction": completeList(mapping.Directions[:]),
		"levels":    completeList([]string{mapping.Cluster.String(), mapping.Host.String(), mapping.Job.String()}),
		"where":     c.suggest,
		"baseline": func(cmd *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
			list, directive := c.suggest(cmd, nil, text)
			return append(completeWords(text), list...), directive
		},
		"host": func(cmd *cobra.Command, _ []string, text string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
			suggested, _ := c.suggest(cmd, nil, "host="+text)
			for _, s := range suggested {
				list = append(list, strings.TrimPrefix(s, "host="))
			}
			return list, noFiles
		},
		"labels": func(cmd *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return c.labelsLike(cmd, text), noFiles | cobra.ShellCompDirectiveNoSpace
		},
	}
	if cmd.Name() == "runs" {
		known["columns"], known["sort"] = c.columns, c.columns
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		complete := known[f.Name]
		if one, isChoice := f.Value.(*choice); isChoice {
			complete = cobra.FixedCompletions(one.among, noFiles)
		} else if f.Name == "metrics" { // the usual names
			complete = completeList(strings.Split(strings.Trim(f.DefValue, "[]"), ","))
		}
		if complete == nil {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic(err) // fails only if it is registered twice
		}
	})
}

// columns completes the names of columns of runs.
func (c completion) columns(cmd *cobra.Command, args []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
	words := where.ColumnNames()
	if strings.Contains(text, "label.") {
		for _, name := range c.labelsLike(cmd, "") {
			words = append(words, "label."+strings.TrimSuffix(name, "="))
		}
	}
	return completeList(append(words, "label."))(cmd, args, text)
}

// completeList completes the last word of a list with commas.
func completeList(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, text string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
		before := text[:strings.LastIndexByte(text, ',')+1]
		for _, word := range words {
			if strings.HasPrefix(word, text[len(before):]) && !slices.Contains(strings.Split(before, ","), word) {
				list = append(list, before+word)
			}
		}
		return list, noFiles
	}
}

// suggest completes a condition.
func (c completion) suggest(cmd *cobra.Command, _ []string, text string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, s := range where.Suggest(text, func() []*mapping.Run {
		return c.runsInTime(cmd, history.RunFilter{Brief: !strings.Contains(text, "config."), Light: true})
	}) {
		list = append(list, cobra.CompletionWithDesc(s.Text, s.Help))
	}
	return list, noFiles | cobra.ShellCompDirectiveNoSpace
}

// labelsLike returns the names of labels in the history that begin with a text, followed by "=", or the values of
// one label.
func (c completion) labelsLike(cmd *cobra.Command, text string) (list []cobra.Completion) {
	found := map[string]bool{}
	name, _, isNamed := strings.Cut(text, "=")
	for _, run := range c.runsInTime(cmd, history.RunFilter{Brief: true}) {
		for label, value := range run.Run.Labels {
			switch {
			case isNamed && label == name:
				found[label+"="+value] = true
			case !isNamed:
				found[label+"="] = true
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(found)) {
		if strings.HasPrefix(word, text) {
			list = append(list, word)
		}
	}
	return list
}
