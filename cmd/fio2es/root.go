package main

import (
	"fmt"
	"runtime"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
)

func init() {
	cobra.EnableCommandSorting = false // keep the order of groups
	cobra.AddTemplateFuncs(template.FuncMap{"wrapped": wrapped, "brief": brief})
}

// groups are all commands by purpose, in the order of help. Help does not list a group without a title.
var groups = []struct {
	title    string
	commands []func(*env) *cobra.Command
}{
	{"Measure", []func(*env) *cobra.Command{runCommand, followCommand, watchCommand, finishCommand, doctorCommand}},
	{"Ask", []func(*env) *cobra.Command{showCommand, percentilesCommand, rankCommand, heatmapCommand, slaCommand, reportCommand}},
	{"Compare", []func(*env) *cobra.Command{compareCommand, trendCommand}},
	{"Keep", []func(*env) *cobra.Command{
		ingestCommand, runsCommand, serveCommand, labelCommand, noteCommand, rmCommand, compactCommand,
	}},
	{"Advanced", []func(*env) *cobra.Command{methodsCommand, shimCommand, setupCommand, kibanaCommand, pushCommand, checkCommand, exportCommand}},
	{"The program", []func(*env) *cobra.Command{configCommand, versionCommand}},
	{"", []func(*env) *cobra.Command{
		partCommand,
		topic("fields", "Conditions of --where, and the fields that they can name", fieldsText),
		topic("settings", "Settings: entries of fio2es.yaml, and their variables", settingsText),
	}},
}

func rootCommand(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "fio2es COMMAND",
		Short: "Latency percentiles you can trust, from fio's histogram logs",
		Long: `fio2es reads the latency histogram logs that fio writes on many hosts and in many
jobs, aligns and merges them, and answers with percentiles of all requests together,
within a few tenths of a percent. It keeps a searchable history of all runs.

Exit codes: 0 all well; 1 failed; 2 wrong usage; 3 done, but something was left
out (stderr says what); 4 done, but a gate failed: a condition of compare
--fail-if, an objective of sla, follow or run, or trend --fail-last; 130 after Ctrl-C,
143 after SIGTERM. That of run is fio's, if fio failed.

On a terminal a table that is too wide has shorter texts (…), and fewer columns: the
line below it names those that are left out; "| cat" shows all. Verdicts have colours there, unless
NO_COLOR is set.

Times are in UTC; --tz chooses another zone, also for times in arguments. CSV and
JSON have UTC. Latencies have their unit; CSV and JSON have microseconds (_us).

Report bugs: https://github.com/fio2es/fio2es/issues`,
		Example: `  fio2es ingest results/                   store all runs of a CBT archive
  fio2es follow /data/cbt                  store runs while tests run
  fio2es run job.fio                       run fio, and store its run
  fio2es runs                              list them
  fio2es show latest                       the newest run on one screen
  fio2es percentiles latest                its percentiles over time
  fio2es percentiles *_clat_hist.*.log     of logs, without storing anything`,
		Version:      fmt.Sprintf("%s %s %s/%s", thisBuild(), runtime.Version(), runtime.GOOS, runtime.GOARCH),
		SilenceUsage: true, SilenceErrors: true, DisableSuggestions: true, // unknownCommand has them on one line
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return e.load(cmd) },
	}
	root.SetVersionTemplate("{{.DisplayName}} {{.Version}}\n")
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetFlagErrorFunc(unknownFlag)
	root.SetHelpTemplate(helpTemplate)
	global := root.PersistentFlags()
	global.String("config", "", "settings `file` (default fio2es.yaml in the user's configuration folder, and for analysis the one here)")
	global.String("history", "", "`file` of the embedded history (default "+shortHome(config.Default().History)+")")
	global.String("tz", config.Default().TZ, "time `zone` of times that people read and write: UTC, local, or a name such as Europe/Berlin")
	global.BoolP("verbose", "v", false, "say more on stderr")
	for _, g := range groups {
		if g.title != "" {
			root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		}
		for _, make := range g.commands {
			cmd := make(e)
			cmd.GroupID, cmd.Args = g.title, usageArgs(cmd.Args)
			if cmd.Runnable() && !cmd.HasSubCommands() {
				cmd.SetHelpTemplate("{{brief .}}")
			}
			root.AddCommand(cmd)
		}
	}
	const program = "The program"
	root.SetHelpCommandGroupID(program)
	root.SetCompletionCommandGroupID(program)
	helpCommand(root)
	completionCommand(root)
	return root
}

// usageArgs makes wrong arguments a usageError.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{Err: fmt.Errorf("%w; see fio2es %s --help", err, cmd.Name())}
		}
		return nil
	}
}

// unknownCommand adds suggestions to cobra's error about a command that does not exist. It returns other errors
// unchanged.
func unknownCommand(root *cobra.Command, err error) error {
	word, of := "", ""
	if err == nil {
		return nil
	}
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for %q", &word, &of); n < 2 {
		return err
	}
	parent, _, _ := root.Find(strings.Fields(of)[1:])
	parent.SuggestionsMinimumDistance = min(1, len(word)/3) // letters that may differ
	if near := parent.SuggestionsFor(word); len(near) > 0 {
		return usagef("unknown command %q: did you mean %s %s?", word, of, strings.Join(near, " or "))
	}
	return usagef("unknown command %q; see %s --help", word, of)
}
