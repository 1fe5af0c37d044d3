package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func showCommand(e *env) *cobra.Command {
	format, q := table.Text, &query.Query{}
	cmd := &cobra.Command{
		Use: "show X...", SuggestFor: []string{"info", "summary"},
		Short: "One screen for one run: facts, numbers, hosts, the worst second",
		Long: `Shows what is known of a run on one screen: when and where it ran, its settings, the
numbers of each direction, the worst windows and when they were, hosts (the slowest
first), a small heat map, and what is not known. The numbers are those of report.

` + chooseHelp + `

Several runs follow one another, a screen each. Before stages of one call of fio is a table
of them. On a terminal, the hosts and the heat map take the lines that are left, and fast
hosts are left out; "| cat" shows all hosts.
The lowest IOPS are not those of the first and the last window, which the run may cut.
† marks a percentile of too few requests to predict another run, ≥ a latency in fio's last
bin, * one that fio computed. --from, --to and --direction choose requests as for rank.

--format json writes an object a line with all of it: by_direction, by_host and worst are
lists with the names of other tables; the cells of the map are those of heatmap.`,
		Example: `  fio2es show latest
  fio2es show results/ --from 09:12 --to 09:46
  fio2es show latest --format json | jq '.by_host[0].host'`,
		Args: someRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			s := &show{env: e, query: q, how: e.layout(format == table.JSON), w: e.stdout}
			if screen, ok := e.stdout.(*term.Screen); ok && s.how.Colour {
				s.w = screen.Unfiltered() // because the map has escapes for colours; all texts are clean
			}
			r := &runReader{env: e, namesRuns: true}
			return r.answer(cmd.Context(), args, q, answer{begin: s.begin, window: s.window, end: s.end, close: s.close, hasNotes: true, hasWarnings: s.how.Columns > 0})
		},
	}
	addReportFlags(cmd.Flags(), q)
	addChoice(cmd.Flags(), &format, "format", "table, or json (an object a line)", []string{table.Text, table.JSON})
	return cmd
}

// layout returns how a run is shown on stdout.
func (e *env) layout(isJSON bool) report.Layout {
	how := report.Layout{JSON: isJSON}
	if isJSON {
		return how
	}
	if screen, ok := e.stdout.(interface{ Columns() int }); ok {
		how.Columns = screen.Columns()
	}
	if screen, ok := e.stdout.(*term.Screen); ok {
		_, how.Lines = screen.Size()
		how.Colour = term.HasColour()
	}
	return how
}

// show shows runs one after another.
type show struct {
	*env
	w      io.Writer
	query  *query.Query
	how    report.Layout
	screen *report.Screen // of the run that is being read
	hasOne bool           // a screen was written before

	// The stages of an execution that are not written yet, because a table of them comes first.
	stages  []*mapping.Run
	screens []*report.Screen
	texts   [][]byte
}

func (s *show) begin(run *query.Run) error {
	s.query.Levels = report.Levels(run)
	s.how.Name = "X"
	if args := s.flags.Args(); run.Stored != nil {
		s.how.Name = facts.ShortID(run.Stored.Run.ID)
	} else if len(args) == 1 {
		s.how.Name = args[0]
	}
	s.screen = report.NewScreen(s.query, s.how)
	return nil
}

func (s *show) window(w *window.Window) error { return s.screen.Add(w) }

func (s *show) end(run *query.Run, doc *mapping.Run) error {
	text, err := s.screen.Draw(run, doc)
	if err != nil {
		return err
	}
	if s.how.JSON || doc.Run.Stages < 2 {
		return errors.Join(s.writeStages(), s.write(text))
	}
	if len(s.stages) > 0 && !facts.IsExecution(append(s.stages, doc)) {
		if err := s.writeStages(); err != nil {
			return err
		}
	}
	s.stages, s.screens, s.texts = append(s.stages, doc), append(s.screens, s.screen), append(s.texts, text)
	return nil
}

func (s *show) close(error) error { return s.writeStages() }

// writeStages writes the table of the stages of an execution, and then the stages.
func (s *show) writeStages() error {
	texts := s.texts
	if overview := report.Stages(s.screens); overview != nil {
		texts = append([][]byte{overview}, texts...)
	}
	s.stages, s.screens, s.texts = nil, nil, nil
	for _, text := range texts {
		if err := s.write(text); err != nil {
			return err
		}
	}
	return nil
}

func (s *show) write(text []byte) error {
	if s.hasOne && !s.how.JSON {
		fmt.Fprintln(s.w)
	}
	s.hasOne = true
	_, err := s.w.Write(text)
	return err
}
