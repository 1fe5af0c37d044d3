package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/tidy"
	"github.com/fio2es/fio2es/mapping"
)

func labelCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "label RUN... NAME=VALUE...",
		Short: "Set and remove labels of runs in the history",
		Long: `Sets labels of runs in the history; NAME= removes one. RUN is ` + runHelp + `;
--where limits these, and without RUN chooses all runs that match. Lists, filters and dashboards find a run by
its new labels at once.

Labels set here stay when the files of a run are ingested again, and have precedence
over --labels of ingest. If the command is interrupted, repeat it; check notices runs
whose documents have different labels.`,
		Example: `  fio2es label latest release=reef disk=nvme
  fio2es label 4f1d2c3a 9b0e77aa disk=
  fio2es label --where 'start >= 2026-10 and host=client7' suspect=nic`,
		Args: arguments(1, many),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, a, err := parseLabels(args)
			if err != nil {
				return err
			}
			return annotateRuns(cmd.Context(), e, names, a)
		},
	}
	addSettings(cmd.Flags(), "cluster")
	addWhereFlag(cmd.Flags())
	return cmd
}

func noteCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "note RUN TEXT",
		Short: "Write a note on a run in the history",
		Long: `Writes a note on a run, in place of the one before; an empty text removes it. RUN
is an id or its beginning, latest, or latest~1 (the one before); last:5 and same-as:RUN
name several, which all get the note. runs, report, serve and Kibana show the note. It
stays when the files of the run are ingested again.`,
		Example: `  fio2es note latest 'first night with the new switch'
  fio2es note 4f1d2c3a ''
  fio2es runs --where 'note ~ switch'`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.TrimSpace(args[1])
			return annotateRuns(cmd.Context(), e, args[:1], mapping.Annotation{Note: &text})
		},
	}
	addSettings(cmd.Flags(), "cluster")
	return cmd
}

// parseLabels separates the names of runs from labels, which contain "=".
func parseLabels(args []string) (names []string, a mapping.Annotation, err error) {
	a.Labels = map[string]string{}
	for _, arg := range args {
		name, value, isLabel := strings.Cut(arg, "=")
		if !isLabel {
			names = append(names, arg)
			continue
		}
		if _, again := a.Labels[name]; again {
			return nil, a, usagef("%s: the label %s is there twice", arg, name)
		}
		a.Labels[name] = value
	}
	if len(a.Labels) == 0 {
		return nil, a, usagef("no label: want NAME=VALUE, or NAME= to remove one")
	}
	return names, a, nil
}

// annotateRuns changes the labels or the note of runs, and prints each.
func annotateRuns(ctx context.Context, e *env, names []string, a mapping.Annotation) error {
	if err := a.Check(); err != nil {
		return usageError{Err: err}
	}
	choice, err := e.chooseRuns(names, "")
	if err != nil {
		return err
	}
	return e.chosen(ctx, choice, true, func(store history.Store, chosen *query.Chosen) error {
		err := tidy.Annotate(ctx, store, chosen.Runs, a, func(run *mapping.Run) {
			term.Line(e.stdout, "%s  %s%s", facts.ShortID(run.Run.ID), facts.Title(run), annotationText(&run.Run, a))
		})
		if err != nil {
			return fmt.Errorf("%w: the same command does the rest", err)
		}
		return nil
	})
}

// annotationText returns all labels of a run if some were changed, and otherwise its note.
func annotationText(run *mapping.RunInfo, a mapping.Annotation) string {
	if a.Note != nil {
		if run.Note == "" {
			return "  (no note)"
		}
		return "  " + run.Note
	}
	text := ""
	for _, name := range slices.Sorted(maps.Keys(run.Labels)) {
		text += "  " + name + "=" + run.Labels[name]
	}
	if text == "" {
		return "  (no labels)"
	}
	return text
}
