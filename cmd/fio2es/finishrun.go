package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/shared"
)

func finishCommand(e *env) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "finish NAME",
		Short: "Store the run that several hosts have sent",
		Long: `Stores the run NAME from the parts that several hosts have sent (run --run NAME, follow
--run NAME): the windows of the cluster, its hosts and sections, and the totals are the sums of what
they sent. This happens by itself when all parts have ended and nothing has come for a
minute; finish does not wait, and leaves out hosts that are silent. While a host sends,
it fails; with --force, what that host sends later is lost.

Later, ingest of all folders, or of an archive that has them, takes the place of the run.`,
		Example: `  fio2es finish night7
  fio2es finish night7 --force`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			rules, err := e.rules()
			if err != nil {
				return err
			}
			to, err := e.target(ctx, rules)
			if err != nil {
				return err
			}
			finished, err := shared.FinishAll(ctx, to.Store, to.Sink, args[0], force)
			if errors.Is(err, history.ErrNotFound) {
				err = fmt.Errorf("%w: fio2es runs lists the runs", err)
			}
			if err = errors.Join(err, to.Store.Close()); err != nil {
				return err
			}
			for i, run := range finished {
				finished[i] = run.Light()
				if !run.Run.Complete {
					e.leaveOut(fmt.Sprintf("run %s (%s) is not complete", facts.ShortID(run.Run.ID), facts.Title(run)))
				}
			}
			return e.printRows(finished)
		},
	}
	addSettings(cmd.Flags(), "cluster", "rule")
	cmd.Flags().BoolVar(&force, "force", false, "also while hosts still send")
	return cmd
}
