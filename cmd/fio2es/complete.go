package main

import (
	"context"
	"log/slog"
	"maps"
	"net"
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
	"github.com/fio2es/fio2es/mapping"
)

const (
	mostCompleted   = 30                     // runs that a shell lists
	completionTakes = 700 * time.Millisecond // time limit; what was found by then is listed
)

// Directives for arguments that name runs.
const (
	orFiles = cobra.ShellCompDirectiveDefault
	noFiles = cobra.ShellCompDirectiveNoFileComp
)

// completion completes words in a shell. It reads the history itself, because no command has read the settings.
type completion struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// arguments completes the arguments of a command if its usage says that they name runs. X, A and B can be paths,
// too.
func (c completion) arguments(usage string) cobra.CompletionFunc {
	switch {
	case strings.Contains(usage, " X...") || strings.Contains(usage, " B..."):
		return c.runs(orFiles)
	case strings.Contains(usage, "RUN"):
		return c.runs(noFiles)
	}
	return nil
}

// runs completes selectors and the ids of runs.
func (c completion) runs(directive cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
		list := completeWords(text)
		if text != "" && text != query.SameAs && len(list) == 1 && strings.HasPrefix(query.SameAs, text) {
			return list, directive | cobra.ShellCompDirectiveNoSpace // no space, because a run follows
		}
		if strings.ContainsAny(text, "=<>~ ") && cmd.Name() != "label" {
			return suggestNames(cmd, nil, text)
		}
		of, isSame := strings.CutPrefix(text, query.SameAs)
		if cmd.Name() == "label" && text != "" && !isSame {
			if labels := c.labelsLike(cmd, text); len(labels) > 0 {
				// no space, because a value follows
				return append(list, labels...), directive | cobra.ShellCompDirectiveNoSpace
			}
		}
		for _, run := range c.runsLike(cmd, of) {
			word := facts.ShortID(run.Run.ID)
			if term.Clean(word) != word { // the shell shows it as it is
				continue
			}
			if isSame {
				word = query.SameAs + word
			}
			list = append(list, cobra.CompletionWithDesc(word, term.Clean(facts.Started(run)+" "+facts.Title(run))))
		}
		return list, directive
	}
}

// completeWords returns the selectors other than ids that begin with a text.
func completeWords(text string) (list []cobra.Completion) {
	for _, s := range []struct{ word, what string }{
		{query.Latest, "the newest run"},
		{query.Latest + "~1", "the run before the newest"},
		{"last:5", "the five newest runs"},
		{query.SameAs, "the runs with the settings of a run"},
		{query.SameAs + query.Latest, "the runs with the settings of the newest"},
	} {
		isLonger := s.word == query.SameAs+query.Latest
		if strings.HasPrefix(s.word, text) && isLonger == strings.HasPrefix(text, query.SameAs) {
			list = append(list, cobra.CompletionWithDesc(s.word, s.what))
		}
	}
	return list
}

// runsLike returns the newest runs whose ids begin with a text.
func (c completion) runsLike(cmd *cobra.Command, text string) []*mapping.Run {
	if strings.Trim(text, "0123456789abcdef") != "" { // ids have no other characters
		return nil
	}
	filter := history.RunFilter{Brief: true, Limit: mostCompleted}
	if text != "" {
		filter.Where = where.That("id "+text, func(run *mapping.Run) bool { return strings.HasPrefix(run.Run.ID, text) })
	}
	return c.runsInTime(cmd, filter)
}

// runsInTime returns the runs that a filter selects, as many as can be read before the user notices the wait. If the
// history cannot be read, it returns none, because a shell cannot show messages.
func (c completion) runsInTime(cmd *cobra.Command, filter history.RunFilter) (runs []*mapping.Run) {
	file, _ := cmd.Flags().GetString("config")
	cfg, err := config.Load(file, cmd.Flags())
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTakes)
	defer cancel()
	store, err := histories{cfg, slog.New(slog.DiscardHandler), c.dial}.open(ctx)
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

// flags makes shells complete the flags of a command: conditions, labels, and lists of words.
func (c completion) flags(cmd *cobra.Command) {
	known := map[string]cobra.CompletionFunc{
		"direction": completeList(mapping.Directions[:]),
		"levels":    completeList([]string{mapping.Cluster.String(), mapping.Host.String(), mapping.Job.String()}),
		"where":     suggestNames,
		"baseline": func(cmd *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
			list, directive := suggestNames(cmd, nil, text)
			return append(completeWords(text), list...), directive
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

// suggestNames completes names in a condition.
func suggestNames(_ *cobra.Command, _ []string, text string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, s := range where.Suggest(text) {
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
		if strings.HasPrefix(word, text) && term.Clean(word) == word { // the shell shows it as it is
			list = append(list, word)
		}
	}
	return list
}
