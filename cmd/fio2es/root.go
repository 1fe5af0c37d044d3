package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
)

// commands make all commands, in the order of their help.
var commands = []func(*env) *cobra.Command{
	ingestCommand, followCommand, runCommand, watchCommand, percentilesCommand, rankCommand, compareCommand, slaCommand, heatmapCommand, reportCommand,
	exportCommand, serveCommand, runsCommand, trendCommand, labelCommand, noteCommand, rmCommand, compactCommand, checkCommand, setupCommand, pushCommand, kibanaCommand, doctorCommand, shimCommand, configCommand, versionCommand,
	generateCommand, fieldsTopic,
}

func rootCommand(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "fio2es",
		Short: "Latency percentiles you can trust, from fio's histogram logs",
		Long: `fio2es reads the latency histogram logs that fio writes on many hosts and in many
jobs, aligns and merges them, and answers with exact percentiles over time. It
keeps a searchable history of all runs.

Exit codes: 0 all well; 1 failed; 2 wrong usage; 3 done, but something was left
out (stderr says what); 4 done, but a gate failed: a condition of compare
--fail-if, an objective of sla, follow or run, or trend --fail-last. That of run is
fio's, if fio failed.

On a terminal a table that is too wide has shorter texts and fewer columns, and the
line below it says which; "| cat" shows all.

Settings: a flag, else FIO2ES_* in the environment, else fio2es.yaml, else the
default. "fio2es config" shows them, and "fio2es config --help" says which files.`,
		Example: `  fio2es ingest results/                     store all runs of a CBT archive
  fio2es follow /data/cbt                    store runs while tests run
  fio2es run job.fio                         run fio, and store its run
  fio2es runs                                list them
  fio2es percentiles latest                  percentiles of the newest run, per second
  fio2es percentiles *_clat_hist.*.log       of logs, without storing anything`,
		Version:      versionText(),
		SilenceUsage: true, SilenceErrors: true,
		PersistentPreRunE: e.load,
	}
	root.SetVersionTemplate("{{.DisplayName}} {{.Version}}\n")
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{Err: err} })
	fl := root.PersistentFlags()
	fl.String("config", "", "settings file (default fio2es.yaml in the user's configuration folder, and for analysis the one here)")
	fl.String("history", "", "file of the embedded history (default "+shortHome(config.Default().History)+")")
	fl.BoolP("verbose", "v", false, "say more on stderr")
	for _, command := range commands {
		cmd := command(e)
		cmd.Args = usageArgs(cmd.Args)
		if naming, ok := namesRuns[cmd.Name()]; ok {
			cmd.ValidArgsFunction = e.completeRuns(naming)
		}
		e.completeFlags(cmd)
		root.AddCommand(cmd)
	}
	return root
}

// usageArgs makes wrong arguments an error of usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{Err: fmt.Errorf("%w; see fio2es %s --help", err, cmd.Name())}
		}
		return nil
	}
}
