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
	archive, logs := fiotest.ArchiveSpec{}, fiotest.TreeSpec{}
	cmd := &cobra.Command{
		Use: "generate logs|archive|man DIR", Short: "Make synthetic logs, for measuring, or the manual", Hidden: true,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			write := archive.WriteDir
			switch args[0] {
			case "man":
				return writeMan(cmd.Root(), args[1])
			case "archive":
			case "logs":
				logs.Hosts = archive.Hosts
				logs.Log = fiotest.LogSpec{
					Seed: archive.Seed << 32, Seconds: archive.Seconds, Directions: []int{fiotest.Read, fiotest.Write},
					Coarseness: archive.Coarseness, IOPS: archive.IOPS, Fio2: archive.Fio2, Groups: archive.Groups,
				}
				write = logs.WriteDir
			default:
				return fmt.Errorf("generate: unknown kind %q (logs, archive)", args[0])
			}
			began := time.Now()
			s, err := write(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(e.stdout, "%d files, %d logs, %s in %s\n", s.Files, s.Logs, unit.Bytes(s.Bytes), unit.Elapsed(time.Since(began)))
			return err
		},
	}
	f := cmd.Flags()
	f.Int64Var(&logs.Bytes, "bytes", 0, "size of all logs together")
	f.IntVar(&logs.Files, "files", 0, "number of logs")
	f.IntVar(&archive.Runs, "runs", 0, "runs of an archive")
	f.IntVar(&archive.Hosts, "hosts", 0, "hosts of a run")
	f.IntVar(&archive.Jobs, "jobs-per-host", 0, "jobs of a host")
	f.IntVar(&archive.Seconds, "seconds", 0, "run time of each job")
	f.IntVar(&archive.Coarseness, "coarseness", 0, "log_hist_coarseness")
	f.BoolVar(&archive.Fio2, "fio2", false, "bins of fio 2")
	f.IntVar(&archive.Groups, "groups", 0, "groups of bins of a rebuilt fio")
	f.IntVar(&archive.IOPS, "iops", 0, "requests a second, of each job and direction")
	f.Uint64Var(&archive.Seed, "seed", 1, "makes sets differ")
	return cmd
}
