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
	"github.com/fio2es/fio2es/pipeline/assign"
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
func (k *keeper) begin(opt pipeline.Options, dir string, now time.Time) *night {
	n := &night{keeper: k, opt: opt, dir: dir}
	n.Night = nightly.Night{
		Settings: opt.Fingerprint(), Call: dir, Memory: k.store, Store: k.store, Say: func(text string) { n.damage = append(n.damage, text) },
	}
	if !k.forgets {
		n.remembers = n.Begin(context.Background(), []string{dir}, now) == nil
	}
	return n
}

type night struct {
	nightly.Night
	*keeper
	opt       pipeline.Options
	dir       string
	remembers bool
	damage    []string // messages
}

// isUnchanged reports whether nothing has changed.
func (n *night) isUnchanged() bool {
	_, ok, err := n.Unchanged(context.Background())
	if err != nil {
		n.Fatal(err)
	}
	return ok
}

// ingest reads what changed, and returns how many runs it read.
func (n *night) ingest(verify, isKilled bool) (read int) {
	ctx := context.Background()
	check := func(err error) {
		if err != nil {
			n.Helper()
			n.Fatal(err)
		}
	}
	n.log.Reset()
	log := slog.New(slog.NewTextHandler(&n.log, nil))
	archive, err := pipeline.Open(ctx, []string{n.dir}, nil, nil)
	check(err)
	defer archive.Close()
	for _, p := range archive.Problems {
		n.Skipped(nil, p)
	}
	n.Verify = verify
	_, known, err := n.Ingest(ctx, archive.Runs, func(runs []*assign.Run) (ingest.Result, error) {
		read += len(runs)
		return ingest.Runs(ctx, ingest.Target{Sink: n.store, Store: n.store}, runs, ingest.Options{
			Pipeline: n.opt, Log: log, Skipped: n.Skipped,
		})
	})
	check(err)
	if left := n.left(); len(known.Runs)+len(known.Removed)+read+left < len(archive.Runs) {
		n.Fatalf("%d runs known, %d removed, %d read, %d left out, of %d", len(known.Runs), len(known.Removed), read, left, len(archive.Runs))
	}
	if !isKilled && n.remembers {
		check(n.Save(ctx, n.store, archive.Runs))
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
	if !n.isUnchanged() {
		n.ingest(false, isKilled)
	}
	return len(n.damage)
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
