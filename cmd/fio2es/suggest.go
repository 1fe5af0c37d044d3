package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
)

// otherWords maps names of commands in other programs to those of fio2es.
var otherWords = map[string][]string{
	"ingest":      {"import", "add", "load", "store", "read", "parse", "save"},
	"runs":        {"ls", "list", "history", "show", "search", "find", "query"},
	"rm":          {"delete", "remove", "del", "forget", "prune"},
	"compare":     {"diff", "cmp", "vs"},
	"percentiles": {"stats", "latency", "summary", "quantiles", "hist"},
	"watch":       {"top", "monitor", "tail", "status", "live"},
	"run":         {"fio", "exec", "start", "bench"},
	"trend":       {"regressions", "changes"},
	"heatmap":     {"plot", "graph", "draw", "chart"},
	"report":      {"html", "page"},
	"sla":         {"slo", "assert", "gate"},
	"check":       {"verify", "fsck", "repair", "validate"},
	"doctor":      {"lint", "explain", "diagnose"},
	"push":        {"upload", "send", "copy", "cp", "sync", "merge"},
	"export":      {"dump", "convert"},
	"serve":       {"web", "server", "ui"},
	"setup":       {"init", "install"},
	"kibana":      {"dashboard", "dashboards"},
	"label":       {"tag", "annotate"},
	"note":        {"comment"},
	"compact":     {"vacuum", "downsample", "rollup"},
	"config":      {"env"},
}

// otherFlags maps names of flags in other programs to those of fio2es.
var otherFlags = map[string][]string{
	"format":        {"json", "csv", "markdown", "table", "junit", "svg"},
	"output":        {"out", "file", "outfile"},
	"history":       {"db", "database"},
	"elasticsearch": {"es", "url", "server", "cluster"},
	"where":         {"filter", "query", "match", "select", "since", "until", "after", "before", "label", "tag", "mode", "benchmark"},
	"labels":        {"tag", "tags", "label"},
	"yes":           {"force", "assume-yes"},
	"dry-run":       {"plan", "preview"},
	"limit":         {"max", "head", "count", "last"},
	"from":          {"since", "begin"},
	"to":            {"until", "end"},
	"rule":          {"sla", "slo", "objective"},
	"fail-if":       {"threshold", "gate"},
	"interval":      {"window", "step"},
	"direction":     {"rw"},
	"verbose":       {"debug"},
}

// unknownCommand adds suggestions to cobra's error about a command that does not exist. It returns other errors
// unchanged.
func unknownCommand(root *cobra.Command, err error) error {
	word, of := "", ""
	if err == nil {
		return nil
	}
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for %q", &word, &of); n < 2 {
		return err
	}
	parent, _, _ := root.Find(strings.Fields(of)[1:])
	if near := suggest(word, otherWords, parent); len(near) > 0 {
		return usagef("unknown command %q: did you mean %s %s?", word, of, strings.Join(near, " or "))
	}
	return usagef("unknown command %q; see %s --help", word, of)
}

// unknownFlag returns an error of parsing flags, and adds what was expected.
func unknownFlag(cmd *cobra.Command, err error) error {
	see := fmt.Sprintf("; see %s --help", cmd.CommandPath())
	var none *pflag.ValueRequiredError
	if errors.As(err, &none) {
		return usagef("--%s: want a value%s", none.GetFlag().Name, see)
	}
	var wrong *pflag.InvalidValueError
	if errors.As(err, &wrong) {
		value := wrong.GetValue()
		if strings.TrimSpace(value) == "" {
			value = strconv.Quote(value)
		}
		return usagef("--%s %s: want %s%s", wrong.GetFlag().Name, value, wantedValue(wrong.GetFlag()), see)
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return usagef("%w%s", err, see)
	}
	flags := &cobra.Command{} // a command, because cobra finds similar names only of commands
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	word := unknown.GetSpecifiedName()
	if name := config.WithoutFlag(word); name != "" {
		return usagef("--%s is no flag of %s but a setting: set %s, or %s in fio2es.yaml (fio2es help settings)", word, cmd.Name(), config.Variable(name), name)
	}
	near := suggest(word, otherFlags, flags)
	if len(near) == 0 {
		return usagef("%w%s", err, see)
	}
	if f, isChoice := cmd.Flags().Lookup(near[0]).Value.(*choice); isChoice && slices.Contains(f.among, word) {
		near[0] += " " + word
	}
	return usagef("%w: did you mean --%s?", err, strings.Join(near, " or --"))
}

// wantedValue describes the values of a flag.
func wantedValue(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a time such as 90s or 5m"
	case "stringSlice":
		return "a list joined by commas"
	case "stringToString":
		return "NAME=VALUE"
	}
	switch v := f.Value.(type) {
	case *choice:
		return v.wanted()
	case *once:
		return onlyOnce
	}
	return "another value"
}

// suggest returns the commands below another one that a word may mean: those that other programs call by this word,
// or those with a similar name.
func suggest(word string, others map[string][]string, within *cobra.Command) []string {
	word = strings.ToLower(word)
	for _, cmd := range within.Commands() {
		if slices.Contains(others[cmd.Name()], word) {
			return []string{cmd.Name()}
		}
	}
	within.SuggestionsMinimumDistance = min(2, len(word)/3) // letters that may differ
	return within.SuggestionsFor(word)
}
