package nightly_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/nightly"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// tb is a [testing.T] or a [rapid.T].
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// keeper is a history that gets the archive every night.
type keeper struct {
	tb
	file    string
	forgets bool // each ingest reads all files
	store   *sqlite.Store
	log     bytes.Buffer // messages of the last ingest
}

func (k *keeper) open() {
	var err error
	if k.store, err = sqlite.Open(context.Background(), k.file); err != nil {
		k.Fatal(err)
	}
}

// recreate starts with an empty history.
func (k *keeper) recreate() {
	k.store.Close()
	for _, end := range []string{"", "-wal", "-shm"} {
		os.Remove(k.file + end)
	}
	k.open()
}

// later returns a time long after the last change of a file. Each edit changes times or inodes.
func later() time.Time { return time.Now().Add(time.Hour) }

// begin begins an ingest of the archive in dir.
func (k *keeper) begin(opt pipeline.Options, dir string, now time.Time) *nightly.Night {
	k.log.Reset()
	return nightly.Begin(context.Background(), nightly.Options{
		Remember: !k.forgets, Settings: opt.Fingerprint(), Paths: []string{dir}, Log: slog.New(slog.NewTextHandler(&k.log, nil)),
		Memory: k.store, Store: func(context.Context) (history.Store, error) { return k.store, nil },
	}, now)
}

// isUnchanged reports whether nothing has changed.
func (k *keeper) isUnchanged(n *nightly.Night) bool {
	_, ok, err := n.Unchanged(context.Background())
	if err != nil {
		k.Fatal(err)
	}
	return ok
}

// ingest reads what changed, and returns how many runs it read.
func (k *keeper) ingest(n *nightly.Night, opt pipeline.Options, verify, isKilled bool) (read int) {
	ctx := context.Background()
	check := func(err error) {
		if err != nil {
			k.Helper()
			k.Fatal(err)
		}
	}
	archive, err := pipeline.Open(ctx, n.Paths, nil, nil)
	check(err)
	defer archive.Close()
	for _, p := range archive.Problems {
		n.Problem(p)
	}
	_, known, err := n.Ingest(ctx, archive.Runs, verify, func(runs []*cbt.Run) (ingest.Result, error) {
		read += len(runs)
		return ingest.Runs(ctx, ingest.Target{Sink: k.store, Store: k.store}, runs, ingest.Options{
			Pipeline: opt, Log: n.Log, Skipped: n.Skipped,
		})
	})
	check(err)
	if left := k.left(); known+read+left < len(archive.Runs) {
		k.Fatalf("%d runs known, %d read, %d left out, of %d", known, read, left, len(archive.Runs))
	}
	if !isKilled && n.Remembers() {
		check(n.Save(ctx, k.store, archive.Runs))
	}
	return read
}

var leftOut = regexp.MustCompile(`note: left out (\d+) run`)

// left returns how many runs messages count as left out because people removed them.
func (k *keeper) left() (sum int) {
	for _, m := range leftOut.FindAllStringSubmatch(k.log.String(), -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			k.Fatal(err)
		}
		sum += n
	}
	return sum
}

// night is one ingest. It returns the number of damages.
func (k *keeper) night(opt pipeline.Options, dir string, isKilled bool) (damage int) {
	n := k.begin(opt, dir, later())
	if !k.isUnchanged(n) {
		k.ingest(n, opt, false, isKilled)
	}
	return n.Damage()
}

// runs returns the runs of the history, sorted by id.
func (k *keeper) runs() (runs []*mapping.Run) {
	for run, err := range k.store.Runs(context.Background(), history.RunFilter{}) {
		if err != nil {
			k.Fatal(err)
		}
		runs = append(runs, run)
	}
	slices.SortFunc(runs, func(a, b *mapping.Run) int { return strings.Compare(a.Run.ID, b.Run.ID) })
	return runs
}

// content returns all that the history has.
func (k *keeper) content() (texts []string) {
	for _, run := range k.runs() {
		run.Ingested = time.Time{}
		texts = append(texts, string(run.AppendJSON(nil)))
		for _, level := range mapping.Levels {
			for d, err := range k.store.Intervals(context.Background(), history.Selection{Runs: []string{run.Run.ID}, Level: level}) {
				if err != nil {
					k.Fatal(err)
				}
				texts = append(texts, string(d.AppendJSON(nil)))
			}
		}
	}
	return texts
}
