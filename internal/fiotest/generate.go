package fiotest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// Generate is the program in the folder generate. Its arguments are logs or archive, the folder to write to, and
// flags.
func Generate(args []string, out io.Writer) error {
	if len(args) < 2 || strings.HasPrefix(args[1], "-") {
		return errors.New("usage: generate logs|archive DIR [flags]; a wrong flag lists them")
	}
	archive, logs := ArchiveSpec{}, TreeSpec{}
	f := flag.NewFlagSet("generate", flag.ContinueOnError)
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
	if err := f.Parse(args[2:]); err != nil {
		return err
	}
	write := archive.WriteDir
	switch args[0] {
	case "archive":
	case "logs":
		logs.Hosts = archive.Hosts
		logs.Log = LogSpec{
			Seed: archive.Seed << 32, Seconds: archive.Seconds, Directions: []int{Read, Write},
			Coarseness: archive.Coarseness, IOPS: archive.IOPS, Fio2: archive.Fio2, Groups: archive.Groups,
		}
		write = logs.WriteDir
	default:
		return fmt.Errorf("generate: unknown kind %q (logs, archive)", args[0])
	}
	s, err := write(context.Background(), args[1])
	if err == nil {
		_, err = fmt.Fprintf(out, "%d files, %d logs, %d bytes\n", s.Files, s.Logs, s.Bytes)
	}
	return err
}
