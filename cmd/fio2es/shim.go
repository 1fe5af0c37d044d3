package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/shim"
)

func shimCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "shim", Short: "Print a script that CBT runs as fio, for histogram logs",
		Long: `Prints fio2es-fio, a script for any POSIX shell. It runs fio with the arguments that
it gets, and adds --write_hist_log, --log_hist_msec, and json+ where the report is in
JSON. The logs are beside the file that stdout goes to, so CBT collects them. A row comes
each 100, 250, 500 or 1000 ms, by the options alone, so that all hosts do alike: fio keeps
rows in memory, up to 256 MB. Those below a second have --log_hist_coarseness=2.
Copy the script to all clients and name it in CBT's yaml:

  cmd_path: /usr/local/bin/fio2es-fio

fio takes the place of the script. Signals reach it, killall finds it, and CBT reads
the same report. Where anything is unusual, fio runs as it would without the script,
and stderr says why: stdout is not a file, the options are there already, --client
or --server, a fio before 3.

Variables: FIO2ES_SHIM_FIO is the fio to run, FIO2ES_SHIM_MSEC the time between rows.
FIO2ES_SHIM_LIVE=1 writes a report at each whole second to live_output.grid1s.V, for
fio2es follow. FIO2ES_SHIM_RUN=NAME does so, too, and fio2es, if it is in PATH, sends
them to the run NAME, which all hosts share (run --run); NAME/ is a run for each folder.
sudo removes variables, so write cmd_path: env FIO2ES_SHIM_LIVE=1 /usr/local/bin/fio2es-fio`,
		Example: `  fio2es shim > fio2es-fio && chmod +x fio2es-fio
  pdcp -w client[1-8] fio2es-fio /usr/local/bin/`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(e.stdout, shim.Script)
			return err
		},
	}
}
