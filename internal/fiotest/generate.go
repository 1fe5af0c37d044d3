package fiotest

import (
	"context"
	"fmt"
)

// GenerateOptions selects what [Generate] makes. Zero fields take the defaults
// of [TreeSpec], [LogSpec] and [ArchiveSpec].
type GenerateOptions struct {
	// Kind is "logs", a folder of histogram logs, or "archive", a CBT archive.
	Kind string
	// Bytes and Files are the size of a folder of logs; without Bytes each log
	// is Seconds long.
	Bytes int64
	Files int
	// Runs, Hosts and Jobs are the size of an archive. Hosts above zero also
	// gives logs in a folder a host's name.
	Runs, Hosts, Jobs int
	// Seconds is each job's run time.
	Seconds int
	// Coarseness is log_hist_coarseness.
	Coarseness int
	// Fio2 and Groups say which fio it was: see [LogSpec].
	Fio2   bool
	Groups int
	// IOPS is the number of requests a second, job and direction.
	IOPS int
	// Directions of a folder's logs. Default Read and Write.
	Directions []int
	// Seed makes sets differ.
	Seed uint64
}

// Generate writes synthetic logs or an archive into dir and returns what it
// wrote. Equal options write equal files.
func Generate(ctx context.Context, dir string, o GenerateOptions) (Summary, error) {
	switch o.Kind {
	case "logs":
		if len(o.Directions) == 0 {
			o.Directions = []int{Read, Write}
		}
		return TreeSpec{Files: o.Files, Bytes: o.Bytes, Hosts: o.Hosts, Log: LogSpec{
			Seed: o.Seed << 32, Seconds: o.Seconds, Directions: o.Directions,
			Coarseness: o.Coarseness, IOPS: o.IOPS, Fio2: o.Fio2, Groups: o.Groups,
		}}.WriteDir(ctx, dir)
	case "archive":
		return ArchiveSpec{
			Runs: o.Runs, Hosts: o.Hosts, Jobs: o.Jobs, Seconds: o.Seconds,
			Coarseness: o.Coarseness, IOPS: o.IOPS, Seed: o.Seed, Fio2: o.Fio2, Groups: o.Groups,
		}.WriteDir(ctx, dir)
	default:
		return Summary{}, fmt.Errorf("generate: unknown kind %q (logs, archive)", o.Kind)
	}
}
