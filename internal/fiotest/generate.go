package fiotest

import (
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
	archive := ArchiveSpec{}
	f := flag.NewFlagSet("generate", flag.ContinueOnError)
	size := f.Int64("bytes", 0, "size of all logs together, in place of --seconds")
	files := f.Int("files", 32, "number of logs")
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
	var logs int64
	var err error
	switch args[0] {
	case "archive":
		logs, err = archive.WriteDir(args[1])
	case "logs":
		logs, err = LogSpec{
			Seed: archive.Seed << 32, Seconds: archive.Seconds, MaxBytes: *size / int64(max(1, *files)), Directions: []int{Read, Write},
			Coarseness: archive.Coarseness, IOPS: archive.IOPS, Fio2: archive.Fio2, Groups: archive.Groups,
		}.WriteDir(args[1], *files)
	default:
		return fmt.Errorf("generate: unknown kind %q (logs, archive)", args[0])
	}
	if err == nil {
		_, err = fmt.Fprintf(out, "%d bytes of logs\n", logs)
	}
	return err
}
