package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/nightly"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// remembering says how an ingest uses the state that earlier ingests left.
type remembering struct {
	verify, acknowledge bool
	quiet               bool // print only what is new
}

func (r *remembering) addFlags(fl *pflag.FlagSet) {
	fl.BoolVar(&r.verify, "verify", false, "read all files again, even if their sizes, times and inodes did not change, and warn about changed contents")
	fl.BoolVar(&r.acknowledge, "acknowledge", false, "do not repeat warnings about what is damaged now, until it changes: later ingests exit with 0")
	fl.BoolVar(&r.quiet, "quiet", false, "print only new runs and warnings, nothing if there are none")
}

// night begins an ingest with the state of earlier ones. The returned function closes the history if it was opened.
func (g *ingesting) night(ctx context.Context, paths []string, opt pipeline.Options) (*nightly.Night, func(), error) {
	if g.quiet {
		g.setLog(slog.LevelWarn)
	}
	h, open := g.history(), history.Store(nil)
	how := nightly.Options{
		History: h.identity(), Settings: programBuild() + "\n" + opt.Fingerprint(), Paths: paths, Restore: g.restore, Log: g.log,
		Choice: fmt.Sprintf("%q", g.pick),
		Store: func(ctx context.Context) (_ history.Store, err error) {
			if open == nil && h.exists() {
				store, err := h.open(ctx)
				switch {
				case err == nil:
					open = store
				case h.Elasticsearch.Enabled(): // opening it for writing repairs it, or reports what is wrong
					return nil, err
				}
			}
			return open, nil
		},
	}
	if g.output == "" && !g.dryRun && !g.force {
		how.Folder = config.StateFolder()
	}
	n, err := nightly.Begin(ctx, how, time.Now())
	if err == nil && g.acknowledge && !n.Remembers() {
		err = usagef("--acknowledge: nothing can be remembered of stdin or a pipe, with --output, --force or --dry-run, or without a home folder")
	}
	return n, func() {
		if open != nil {
			open.Close()
		}
	}, err
}

// identity returns a unique name of the history.
func (h histories) identity() string {
	if e := h.Elasticsearch; e.Enabled() {
		return fmt.Sprintf("%q %q %q", e.Addresses, e.CloudID, h.Prefix)
	}
	if abs, err := filepath.Abs(h.History); err == nil {
		return abs
	}
	return h.History
}

// programBuild returns a text that differs between builds, because another build may read files in another way.
func programBuild() string {
	text := thisBuild().String()
	if file, err := os.Executable(); err == nil {
		if info, err := os.Stat(file); err == nil {
			text += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return text
}

// unchanged ends an ingest before any file is read, if nothing is new. It returns false if something may be new.
func (g *ingesting) unchanged(ctx context.Context, night *nightly.Night, began time.Time) (ok bool, err error) {
	if _, err := g.rules(); err != nil || g.verify {
		return false, err
	}
	runs, ok, err := night.Unchanged(ctx)
	if err != nil || !ok {
		return false, err
	}
	if err := g.printNews(&ingest.Result{}, runs, time.Since(began)); err != nil {
		return true, err
	}
	return true, g.endNight(night, nil, false)
}

// endNight saves the state. all are the runs of an ingest that read files. leftOut reports whether anything but
// damage was left out.
func (g *ingesting) endNight(night *nightly.Night, all []*cbt.Run, leftOut bool) error {
	if g.acknowledge {
		night.Acknowledge()
	}
	acknowledged, damage := night.Count()
	if acknowledged > 0 {
		g.log.Info(fmt.Sprintf("note: %s of damage acknowledged, not repeated until the files change (-v prints them)", unit.Plural(acknowledged, "message")))
	}
	if g.acknowledge && damage > 0 {
		g.log.Warn(fmt.Sprintf("%s not acknowledged, because the files were changed in the last two seconds: repeat the command", unit.Plural(damage, "message")))
	}
	if all != nil || g.acknowledge || night.MustSave() {
		if err := night.Save(all); err != nil {
			g.log.Info("note: " + err.Error())
		}
	}
	return leftOutIf(nil, leftOut || damage > 0)
}
