package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/unit"
)

// generateCommand makes logs to measure with, and the manual for packages. It is hidden: users have both.
func generateCommand(e *env) *cobra.Command {
	o := fiotest.GenerateOptions{}
	cmd := &cobra.Command{
		Use: "generate logs|archive|man DIR", Short: "Make synthetic logs, for measuring, or the manual", Hidden: true,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Kind = args[0]; o.Kind == "man" {
				return writeMan(cmd.Root(), args[1])
			}
			began := time.Now()
			s, err := fiotest.Generate(cmd.Context(), args[1], o)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(e.stdout, "%d files, %d logs, %s in %s\n", s.Files, s.Logs, unit.Bytes(s.Bytes), unit.Elapsed(time.Since(began)))
			return err
		},
	}
	f := cmd.Flags()
	f.Int64Var(&o.Bytes, "bytes", 0, "size of all logs together")
	f.IntVar(&o.Files, "files", 0, "number of logs")
	f.IntVar(&o.Runs, "runs", 0, "runs of an archive")
	f.IntVar(&o.Hosts, "hosts", 0, "hosts of a run")
	f.IntVar(&o.Jobs, "jobs-per-host", 0, "jobs of a host")
	f.IntVar(&o.Seconds, "seconds", 0, "run time of each job")
	f.IntVar(&o.Coarseness, "coarseness", 0, "log_hist_coarseness")
	f.BoolVar(&o.Fio2, "fio2", false, "bins of fio 2")
	f.IntVar(&o.Groups, "groups", 0, "groups of bins of a rebuilt fio")
	f.IntVar(&o.IOPS, "iops", 0, "requests a second, of each job and direction")
	f.Uint64Var(&o.Seed, "seed", 1, "makes sets differ")
	return cmd
}
