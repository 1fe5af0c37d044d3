package main

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

const (
	mostCompleted   = 30                     // runs that a shell lists
	completionTakes = 700 * time.Millisecond // time limit for a cluster; what was found by then is listed
)

// Directives for arguments that name runs.
const (
	orFiles = cobra.ShellCompDirectiveDefault
	noFiles = cobra.ShellCompDirectiveNoFileComp
	noSpace = cobra.ShellCompDirectiveNoSpace // because more follows
)

// bashAlone follows the script for bash, which needs a function of the package bash-completion to find its words. Without
// the package these are the words between spaces.
const bashAlone = `
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    __fio2es_init_completion()
    {
        local line=${COMP_LINE:0:COMP_POINT}
        COMPREPLY=()
        read -ra words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1))
        cur=${words[cword]} prev=${words[cword - 1]}
    }
fi
`

// completionCommand adds the command that prints a script for a shell.
func completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		panic(err)
	}
	bash.Long = strings.Replace(bash.Long, "This script depends on the 'bash-completion' package.\nIf it is not installed already, you can install it via your OS's package manager.\n\n", "", 1)
	bash.PostRunE = func(*cobra.Command, []string) error {
		_, err := io.WriteString(root.OutOrStdout(), bashAlone)
		return err
	}
}

// complete makes shells complete the arguments of a command, if its usage says that they name runs, and its flags. X, A and
// B can be paths, too.
func (e *env) complete(cmd *cobra.Command) {
	switch {
	case strings.Contains(cmd.Use, " X...") || strings.Contains(cmd.Use, " B..."):
		cmd.ValidArgsFunction = e.completeRuns(orFiles)
	case strings.Contains(cmd.Use, "RUN"):
		cmd.ValidArgsFunction = e.completeRuns(noFiles)
	}
	columns := func(cmd *cobra.Command, args []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completeList(append(where.ColumnNames(), "label."))(cmd, args, text)
	}
	known := map[string]cobra.CompletionFunc{
		"direction": completeList(mapping.Directions[:]),
		"weighting": completeList([]string{"inflight", "completion"}),
		"levels":    completeList([]string{mapping.Cluster.String(), mapping.Host.String(), mapping.Job.String(), mapping.Section.String()}),
		"where":     suggestNames, "baseline": suggestNames, "labels": e.completeLabels, "columns": columns, "sort": columns,
		"by": columns, "show": completeList(workload.Usual()),
	}
	if cmd.Name() == "heatmap" {
		delete(known, "columns") // a number
	}
	if cmd.Name() == "compare" {
		known["by"] = completeList(append([]string{byRun, bySettings}, where.ColumnNames()...))
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

// completeRuns completes selectors, the ids of runs, and conditions; for the command label also labels.
func (e *env) completeRuns(directive cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, text string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
		if cmd.Name() == "label" && len(args) > 0 {
			return e.completeLabels(cmd, args, text)
		}
		if strings.ContainsAny(text, "=<>~ ") {
			return suggestNames(cmd, args, text)
		}
		before, id := "", text
		if of, isSame := strings.CutPrefix(text, query.SameAs); isSame {
			before, id = query.SameAs, of
		}
		for _, s := range []struct{ word, what string }{
			{query.Latest, "the newest run"}, {query.Latest + "~1", "the run before the newest"}, {"last:5", "the five newest runs"},
			{query.SameAs, "the runs with the settings of a run"},
		} {
			if strings.HasPrefix(s.word, id) && (before == "" || s.word == query.Latest) {
				list = append(list, cobra.CompletionWithDesc(before+s.word, s.what))
			}
		}
		if len(list) == 1 && text != "" && before == "" && strings.HasPrefix(query.SameAs, text) {
			return list, directive | noSpace
		}
		filter := history.RunFilter{Light: true, Limit: mostCompleted}
		filter.Where = where.That("id "+id, func(run *mapping.Run) bool { return strings.HasPrefix(run.Run.ID, id) })
		for _, run := range e.runsInTime(cmd, filter) {
			if word := before + facts.ShortID(run.Run.ID); term.Clean(word) == word { // the shell shows it as it is
				list = append(list, cobra.CompletionWithDesc(word, term.Clean(facts.Started(run)+" "+facts.Title(run))))
			}
		}
		return list, directive
	}
}

// runsInTime returns the runs that a filter selects, as many as can be read before the user notices the wait. If the
// history cannot be read, it returns none, because a shell cannot show messages.
func (e *env) runsInTime(cmd *cobra.Command, filter history.RunFilter) (runs []*mapping.Run) {
	file, _ := cmd.Flags().GetString("config")
	quiet := *e // no command has read the settings
	quiet.log = slog.New(slog.DiscardHandler)
	var err error
	if quiet.cfg, err = config.Load(file, cmd.Flags()); err != nil {
		return nil
	}
	ctx := cmd.Context()
	if quiet.cfg.Elasticsearch.Enabled() { // a file answers even on a busy machine
		limited, cancel := context.WithTimeout(ctx, completionTakes)
		defer cancel()
		ctx = limited
	}
	store, err := quiet.openHistory(ctx)
	if err != nil {
		return nil
	}
	defer store.Close()
	for run, err := range store.Runs(ctx, filter) {
		if err == nil {
			runs = append(runs, run)
		}
	}
	return runs
}

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

// suggestNames completes names in a condition.
func suggestNames(_ *cobra.Command, _ []string, text string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, s := range where.Suggest(text) {
		list = append(list, cobra.CompletionWithDesc(s.Text, s.Help))
	}
	return list, noFiles | noSpace
}

// completeLabels completes the names of labels in the history, with "=", or the values of one label. Those with control
// characters are left out, because the shell shows words as they are.
func (e *env) completeLabels(cmd *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
	found := map[string]bool{}
	for _, run := range e.runsInTime(cmd, history.RunFilter{Light: true}) {
		for label, value := range run.Run.Labels {
			word := label + "="
			if strings.Contains(text, "=") {
				word += value
			}
			if strings.HasPrefix(word, text) && term.Clean(word) == word {
				found[word] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), noFiles | noSpace
}
