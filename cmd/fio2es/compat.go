package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/compat"
)

// compat answers as one of fio's tools. It fails if flags of fio2es contradict that.
func (e *env) compat(cmd *cobra.Command, tool string, args []string) (err error) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "compat" && err == nil {
			err = usagef("--compat %s takes the options of the tool, after --: leave out --%s", tool, f.Name)
		}
	})
	if err == nil && e.cfg.Method == "fio" {
		err = usagef("--compat %s interpolates, as the tool does: leave out the setting method", tool)
	}
	if err != nil {
		return err
	}
	call, err := compat.Parse(tool, args)
	if err != nil {
		return usageError{Err: err}
	}
	if call.Help != "" {
		fmt.Fprint(e.stdout, call.Help)
		return nil
	}
	set, err := e.histogramLogs(cmd.Context(), call.Files)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; --compat %s reads logs, as the tool does, and no runs of the history", err, tool)
	}
	if err != nil {
		return err
	}
	defer set.Close()
	for _, f := range set.Files {
		if !f.Named {
			return usagef("%s is a folder or an archive: --compat %s takes logs, as the tool does", f.Root, tool)
		}
	}
	err = call.Print(cmd.Context(), e.stdout, set.Files, e.options().Bins, func(err error) { e.leaveOut(err.Error()) })
	if errors.Is(err, compat.ErrUsage) {
		return usageError{Err: err}
	}
	return err
}
