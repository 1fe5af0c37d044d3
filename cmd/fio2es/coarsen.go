package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

func coarsenCommand(e *env) *cobra.Command {
	to, folder := "", ""
	cmd := &cobra.Command{
		Use:   "coarsen LOG... --to BINS --output FOLDER",
		Short: "Write histogram logs again, with fewer bins",
		Long: `Writes histogram logs again as fio does with log_hist_coarseness: 2, 4, 8 … 64 neighbouring
bins become one, and counts add up exactly. LOG is a log, a folder or an archive, also
compressed; what is written is plain, under the same names below the folder. Other
files are left out.

--to is the coarseness from fio's finest bins on: 3 joins 2^3 = 8 of them. Or it is what
the bins may lose: 5% is the largest distance of a latency from the middle of its bin, and
"2 digits" half a unit of the second digit, which is 5 %. The coarsest bins that keep it
are taken, and stderr says what they keep. A log with coarser bins stays as it is.

To store fewer bins and leave the logs as they are, set coarsen at ingest.`,
		Example: `  fio2es coarsen --to 2 -o small/ output_clat_hist.*.log
  fio2es coarsen --to 5% -o small/ results.tar.zst`,
		Args: arguments(1, many),
		RunE: func(cmd *cobra.Command, args []string) error {
			coarseness, err := config.ParseCoarseness(to)
			switch {
			case err != nil:
				return usagef("--to %s: want %w", to, err)
			case to == "":
				return usagef("coarsen: want --to, such as --to 3 or --to 5%%")
			case folder == "":
				return usagef("coarsen: want --output with the folder to write into")
			}
			return e.coarsen(cmd.Context(), args, folder, coarseness)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "wanted `bins`: a coarseness from 0 to 6, the largest error such as 5%, or '2 digits'")
	cmd.Flags().StringVarP(&folder, "output", "o", "", "`folder` to write into; files that are there are not replaced")
	return cmd
}

// coarsen writes the histogram logs under the paths into a folder.
func (e *env) coarsen(ctx context.Context, paths []string, folder string, coarseness int) error {
	set, err := e.histogramLogs(ctx, paths)
	if err != nil {
		return err
	}
	defer set.Close()
	rows := 0
	for _, f := range set.Files {
		name := filepath.Join(folder, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s is there, and is not replaced: remove it, or name another folder", name)
		}
		if err != nil {
			return err
		}
		n, err := e.coarsenLog(f, to, coarseness)
		err = errors.Join(err, to.Close())
		if err == nil && !f.ModTime.IsZero() { // it says when the job ended
			err = os.Chtimes(name, time.Time{}, f.ModTime)
		}
		if err != nil {
			return errors.Join(err, os.Remove(name))
		}
		rows += n
	}
	e.log.Info(fmt.Sprintf("%s, %s; %s", unit.Plural(len(set.Files), "log"), unit.Plural(rows, "row"), config.Coarsened(coarseness)))
	return nil
}

// coarsenLog writes the rows of a log, and returns their number. It leaves out those that cannot be read.
func (e *env) coarsenLog(f *source.File, to io.Writer, coarseness int) (rows int, err error) {
	in, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	log := fiolog.NewReader(in, f.Name(), fiolog.ClatHist)
	log.Hint = e.options().Bins
	out, line := bufio.NewWriter(to), []byte(nil)
	for {
		row, err := log.Next()
		bad := (*fiolog.SyntaxError)(nil)
		switch {
		case errors.As(err, &bad):
			e.leaveOut(err.Error())
			continue
		case errors.Is(err, source.ErrDamaged): // what came before is used
			e.leaveOut(err.Error())
			return rows, out.Flush()
		case errors.Is(err, io.EOF):
			return rows, out.Flush()
		case err != nil:
			return rows, err
		}
		line = fmt.Appendf(line[:0], "%d, %d, %d", row.Time, row.Direction, row.BlockSize)
		layout, bins := row.Layout.Coarser(coarseness), row.Bins
		shift := layout.Coarseness() - row.Layout.Coarseness()
		for column := range layout.Len() {
			n := uint64(0)
			for ; len(bins) > 0 && int(bins[0].Index)>>shift == column; bins = bins[1:] {
				n += bins[0].Count
			}
			line = strconv.AppendUint(append(line, ", "...), n, 10)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return rows, err
		}
		rows++
	}
}

// histogramLogs finds the histogram logs under the paths, in their order, and leaves out what cannot be read. The set must be
// closed.
func (e *env) histogramLogs(ctx context.Context, paths []string) (*source.Set, error) {
	isWanted := func(path string) bool {
		name, isName := fiolog.ParseName(filepath.Base(path))
		return isName && name.Kind.IsHistogram()
	}
	set, err := source.Scan(ctx, paths, source.Options{Stdin: e.stdin, Want: isWanted, Named: true})
	if err != nil {
		return nil, err
	}
	set.Until(ctx)
	for _, p := range set.Problems {
		e.leaveOut(p.Error())
	}
	if len(set.Files) == 0 {
		return nil, errors.Join(pipeline.NoRuns(paths), set.Close())
	}
	return set, nil
}
