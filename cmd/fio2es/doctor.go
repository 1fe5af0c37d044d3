package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/doctor"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/pipeline"
)

func doctorCommand(e *env) *cobra.Command {
	format := table.Text
	cmd := &cobra.Command{
		Use:   "doctor PATH... | -- fio ARGS",
		Short: "What a job or its results will lack, and how to keep it",
		Long: `Shows what will be known of a run before it starts, and what will be lost: of a job
file, a command line of fio, or a configuration of CBT (YAML). For results, in a folder
or an archive, it shows what they have. Nothing is stored, and no jobs are run: only
fio --version, because some versions write wrong histogram logs.

The first line says what fio2es run adds by itself; it changes no options that you set.
The table and what is below it are for fio alone: the reasons, and the exact lines to
add, remove or change. Notes say what spoils the measurement of a job, such as a queue
depth that has no effect. They do not change the exit code.

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
	byRun  []string // what fio2es run does with the commands
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
	if x.format == table.Text {
		for _, text := range x.byRun {
			fmt.Fprintf(x.stdout, "%s\n\n", term.FillFor(x.stdout, term.Clean(text)))
		}
		if len(x.byRun) > 0 {
			fmt.Fprint(x.stdout, "With fio alone:\n\n")
		}
	}
	x.leftOut = x.leftOut || doctor.IsLossy(x.found)
	return doctor.Write(x.stdout, x.found, x.format)
}

func (x *doctorCall) command(ctx context.Context, words []string) error {
	c, err := fioargs.Parse(words, os.ReadFile)
	if err != nil {
		return usageError{Err: err}
	}
	version, err := record.VersionOf(ctx, c.Program)
	if err != nil {
		x.log.Debug("the version of fio is unknown", "err", err)
	}
	x.found = append(x.found, doctor.Predict(c, version, doctor.Here())...)
	if with, err := withRun(c, version); err != nil {
		x.byRun = append(x.byRun, "fio2es run refuses it: "+err.Error())
	} else if !slices.Contains(x.byRun, with) {
		x.byRun = append(x.byRun, with)
	}
	return nil
}

// withRun says what fio2es run adds to a command, and what is lost even so.
func withRun(c *fioargs.Command, version fioargs.Version) (string, error) {
	if version == (fioargs.Version{}) { // unknown: the oldest gets most options
		version = fioargs.HasHistogramLogs
	}
	p, err := record.Of(c, record.Settings{
		Folder: "…", Name: record.NameOf(c), Version: version, CPUs: runtime.NumCPU(), Reports: "auto", ReadFile: os.ReadFile,
	})
	if err != nil {
		return "", err
	}
	own := c.Words()
	var added []string
	for _, word := range p.Words {
		option, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		isUnset := func(s *fioargs.Section) bool { _, ok := s.Get(option); return !ok }
		isOwn := len(c.Jobs) > 0 && !slices.ContainsFunc(c.Jobs, isUnset) // which has precedence
		if strings.HasPrefix(word, "--") && word != "--" && !slices.Contains(own, word) && !isOwn {
			added = append(added, word)
		}
	}
	with, err := fioargs.Parse(p.Words, func(name string) ([]byte, error) {
		if text, ok := p.Copies[name]; ok {
			return text, nil
		}
		return os.ReadFile(name)
	})
	if err != nil {
		return "", err
	}
	text := "With fio2es run nothing is lost."
	if lost := doctor.Lost(doctor.Predict(with, version, nil)); len(lost) > 0 {
		text = "With fio2es run is lost: " + strings.Join(lost, "; ") + "."
	}
	return text + " It adds " + cmp.Or(strings.Join(added, " "), "nothing") + ".", nil
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
	const most = 1 << 20 // largest configuration, in bytes
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return false, err
	}
	switch ext := filepath.Ext(path); {
	case ext == ".yaml" || ext == ".yml":
		found, err := doctor.PredictCBT(path, text)
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
		answers, results, err := doctor.Examine(ctx, r, opt)
		if err != nil {
			return err
		}
		for _, result := range results {
			for _, note := range result.Notes {
				x.log.Info("note: " + note.Error())
			}
		}
		x.found = append(x.found, answers...)
	}
	return nil
}
