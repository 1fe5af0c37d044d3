package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/doctor"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
)

func doctorCommand(e *env) *cobra.Command {
	format := table.Text
	cmd := &cobra.Command{
		Use:   "doctor PATH... | -- fio ARGS",
		Short: "What a job or its results will lack, and how to keep it",
		Long: `Shows what will be lost of a run before it starts, and how to keep it: of a job file, a
command line of fio, or a configuration of CBT (YAML). For results, in a folder or an
archive, it shows what is known and what is lost. Nothing is stored, and no jobs are run:
only fio --version, because some versions write wrong histogram logs.

Each cause of a loss has the exact lines to add, remove or change. fio2es run adds them by
itself, but changes no options that you set; a line says what is lost even so. Notes say
which option would help, and what spoils the measurement of a job, such as a queue depth
that has no effect. They do not change the exit code.

Columns for results:

OVER TIME  what latencies over time come from. Averages have no percentiles
EVERY      the length of windows
END        whether the last interval of each job is there: fio does not log it
WHOLE RUN  percentiles of all requests; fio's own, of one job; or rates, means
START      how the start is known. A report of fio 3.36 or later has it to 10 ms
ERROR      of percentiles, by the width of the bins

Exit code 3: something is or will be lost.`,
		Example: `  fio2es doctor randrw.fio
  fio2es doctor cbt.yaml
  fio2es doctor results/
  fio2es doctor -- fio --name=a --rw=randread --output-format=json`,
		Args: arguments(1, many),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := cmd.ArgsLenAtDash()
			if n < 0 {
				n = len(args)
			}
			return (&doctorCall{env: e, format: format}).all(cmd.Context(), args[:n], args[n:])
		},
	}
	addSettings(cmd.Flags(), "reading")
	addChoice(cmd.Flags(), &format, "format", tableUsage, table.Formats)
	return cmd
}

type doctorCall struct {
	*env
	format string
	found  []doctor.Answers
	byRun  []string // what is lost with fio2es run
}

// all examines paths, and a command line if there is one.
func (x *doctorCall) all(ctx context.Context, paths, words []string) error {
	if len(words) > 0 {
		if err := x.command(ctx, words); err != nil {
			return err
		}
	}
	var results []string
	for _, path := range paths {
		isResult, err := x.setup(ctx, path)
		if err != nil {
			return err
		}
		if isResult {
			results = append(results, path)
		}
	}
	if len(results) > 0 {
		if err := x.results(ctx, results); err != nil {
			return err
		}
	}
	x.leftOut = x.leftOut || len(doctor.Causes(x.found)) > 0
	if err := doctor.Write(x.stdout, x.found, x.format); err != nil || x.format != table.Text {
		return err
	}
	for _, text := range slices.Compact(x.byRun) {
		fmt.Fprintf(x.stdout, "\n%s\n", term.FillFor(x.stdout, term.Clean(text)))
	}
	return nil
}

func (x *doctorCall) command(ctx context.Context, words []string) error {
	c, err := fioargs.Parse(words, os.ReadFile)
	if err != nil {
		return usageError{Err: err}
	}
	version, err := record.VersionOf(ctx, c.Program)
	if err != nil {
		x.log.Debug("the version of fio is unknown", "err", err)
		version = fioargs.HasHistogramLogs // the oldest gets most options
	}
	found := doctor.Check(c, version, doctor.Here())
	if x.found = append(x.found, found...); len(doctor.Causes(found)) == 0 {
		return nil
	}
	p, err := record.Of(c, record.Settings{
		Folder: "…", Name: record.NameOf(c), Version: version, CPUs: runtime.NumCPU(), Reports: "auto", ReadFile: os.ReadFile,
	})
	if err != nil {
		x.byRun = append(x.byRun, "fio2es run refuses it: "+err.Error())
		return nil
	}
	with, err := fioargs.Parse(p.Words, func(name string) ([]byte, error) {
		if text, ok := p.Copies[name]; ok {
			return text, nil
		}
		return os.ReadFile(name)
	})
	if err != nil {
		return err
	}
	text := "With fio2es run in place of fio nothing is lost: it adds what is missing."
	if causes := doctor.Causes(doctor.Check(with, version, nil)); len(causes) > 0 {
		text = "With fio2es run in place of fio only what " + unit.List(causes, 9, " and ") + " costs is lost: it adds what is missing."
	}
	x.byRun = append(x.byRun, text)
	return nil
}

// setup examines a job file or a configuration. isResult reports that the path has results instead.
func (x *doctorCall) setup(ctx context.Context, path string) (isResult bool, err error) {
	if path == "-" {
		return true, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return true, err
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<20)) // no configuration is larger
	switch ext := filepath.Ext(path); {
	case err != nil:
		return false, err
	case ext == ".yaml" || ext == ".yml":
		found, err := doctor.CheckCBT(path, text)
		x.found = append(x.found, found...)
		return false, err
	case fioargs.IsJobFile(text):
		return false, x.command(ctx, []string{"fio", "--", path})
	}
	return true, nil
}

// results examines the runs under paths.
func (x *doctorCall) results(ctx context.Context, paths []string) error {
	archive, err := pipeline.Open(ctx, paths, x.stdin, nil)
	if err != nil {
		return err
	}
	archive.Until(ctx)
	defer archive.Close()
	x.logProblems(archive)
	if len(archive.Runs) == 0 {
		return pipeline.NoRuns(paths)
	}
	for _, r := range archive.Runs {
		opt := x.options()
		opt.Coarseness = 0 // of what the files have, the setting loses nothing for good
		found, notes, err := doctor.Examine(ctx, r, opt)
		if err != nil {
			return err
		}
		for _, note := range notes {
			x.log.Info("note: " + note.Error())
		}
		x.found = append(x.found, found...)
	}
	return nil
}
