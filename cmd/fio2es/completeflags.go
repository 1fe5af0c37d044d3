package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// completeFlags makes shells complete the flags of a command: conditions, labels, and words of a list.
func (e *env) completeFlags(cmd *cobra.Command) {
	lists := map[string][]string{
		"direction": mapping.Directions[:],
		"levels":    {mapping.Cluster.String(), mapping.Host.String(), mapping.Job.String()},
		"as":        export.Formats, "host": nil,
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		complete := cobra.CompletionFunc(nil)
		words, isList := lists[f.Name]
		one, isChoice := f.Value.(*choice)
		switch {
		case f.Value.Type() == "int": // --columns of heatmap
			return
		case isChoice:
			complete = cobra.FixedCompletions(one.among, noFiles)
		case f.Name == "where" || f.Name == "baseline":
			complete = func(cmd *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
				list, directive := e.suggest(cmd, text)
				if f.Name == "baseline" {
					list = append(completeWords(text), list...)
				}
				return list, directive
			}
		case cmd.Name() == "runs" && (f.Name == "columns" || f.Name == "sort"):
			complete = func(cmd *cobra.Command, args []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
				words := where.ColumnNames()
				if strings.Contains(text, "label.") {
					for _, name := range e.labelsLike(cmd, "") {
						words = append(words, "label."+strings.TrimSuffix(name, "="))
					}
				}
				return completeList(append(words, "label."))(cmd, args, text)
			}
		case f.Name == "labels":
			complete = func(cmd *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return e.labelsLike(cmd, text), noFiles | cobra.ShellCompDirectiveNoSpace
			}
		case f.Name == "metrics": // the usual ones
			complete = completeList(strings.Split(strings.Trim(f.DefValue, "[]"), ","))
		case words != nil:
			complete = completeList(words)
		case isList:
			complete = func(cmd *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return e.valuesLike(cmd, f.Name, text), noFiles
			}
		default:
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic(err) // it was registered before
		}
	})
}

// completeList completes the last of words between commas.
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
func (e *env) suggest(cmd *cobra.Command, text string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, s := range where.Suggest(text, func() []*mapping.Run {
		isBrief := !strings.Contains(text, "option.") && !strings.Contains(text, "config.")
		return e.runsInTime(cmd, history.RunFilter{Brief: isBrief, Light: true})
	}) {
		list = append(list, cobra.CompletionWithDesc(s.Text, s.Help))
	}
	return list, noFiles | cobra.ShellCompDirectiveNoSpace
}

// valuesLike are the values of a field in the history that begin with a text.
func (e *env) valuesLike(cmd *cobra.Command, field, text string) (list []cobra.Completion) {
	suggested, _ := e.suggest(cmd, field+"="+text)
	for _, s := range suggested {
		list = append(list, strings.TrimPrefix(s, field+"="))
	}
	return list
}

// labelsLike are the names of labels in the history that begin with a text, with their "=", or the values of one.
func (e *env) labelsLike(cmd *cobra.Command, text string) (list []cobra.Completion) {
	found := map[string]bool{}
	name, _, isNamed := strings.Cut(text, "=")
	for _, run := range e.runsInTime(cmd, history.RunFilter{Brief: true}) {
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
