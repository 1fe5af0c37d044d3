package follow

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// hosts are those of a shared run, with what passes before their fio starts.
var hosts = []struct {
	name  string
	after time.Duration
}{{"a", 0}, {"b", 700 * time.Millisecond}, {"c", 1400 * time.Millisecond}, {"d", 2900 * time.Millisecond}}

// sharing is a run that several hosts send, each from a folder of its own, in a bubble.
type sharing struct {
	*place
	view    shared.Store
	ended   sync.WaitGroup
	waiting int // see [shared.Member]
}

func newSharing(p *place) *sharing {
	s := &sharing{place: p, view: shared.Store{Store: p.store}}
	for _, h := range hosts {
		check(p.t, os.Mkdir(filepath.Join(p.dir, h.name), 0o755))
	}
	return s
}

func (s *sharing) target() ingest.Target {
	return ingest.Target{Sink: ingest.Annotate(s.store, nil), Store: s.view}
}

// follow follows the folder of a host until ctx ends or all is over.
func (s *sharing) follow(ctx context.Context, host string) {
	s.followWith(ctx, host, s.view, func(*window.Window) error { return nil })
}

// followWith sends to a history of its own, and gives each window to each.
func (s *sharing) followWith(ctx context.Context, host string, store history.Store, each func(*window.Window) error) {
	to := s.target()
	to.Store = store
	opt := s.options
	opt.Ingest.Pipeline.Levels = nil
	opt.Paths, opt.Host, opt.Window = []string{filepath.Join(s.dir, host)}, host, each
	opt.Shared = &Shared{To: to, Options: opt.Ingest, Member: shared.Member{Name: "night", Host: host, Waiting: s.waiting}, Every: time.Second}
	if _, err := Follow(ctx, to, opt); err != nil {
		s.t.Errorf("%s: %v", host, err)
	}
}

// fio writes the reports of the fio of each host.
func (s *sharing) fio(seconds int) {
	for _, h := range hosts {
		start := time.Now().Add(h.after)
		s.ended.Go(func() {
			for n := 1; n <= seconds; n++ {
				time.Sleep(time.Until(start.Add(time.Duration(n) * time.Second)))
				write(s.t, filepath.Join(s.dir, h.name, "out.json"), report(start, n))
			}
		})
	}
}

// windows returns the requests of each window of a level by its start and host.
func (s *sharing) windows(level mapping.Level) map[string]int64 {
	s.t.Helper()
	run, err := s.view.Run(s.t.Context(), "night")
	check(s.t, err)
	all := map[string]int64{}
	for w, err := range window.Rejoin(s.view.Intervals(s.t.Context(), history.Selection{Runs: []string{run.Run.ID}, Level: level})) {
		check(s.t, err)
		all[w.Start.Format("05.000")+w.Host] += w.Completed
	}
	return all
}

// ofFiles returns what a plain ingest finds in the windows of each host, by the cells of the grid that are nearest to them.
func (s *sharing) ofFiles() (cluster, byHost map[string]int64) {
	s.t.Helper()
	cluster, byHost = map[string]int64{}, map[string]int64{}
	for _, h := range hosts {
		archive, err := pipeline.Open(s.t.Context(), []string{filepath.Join(s.dir, h.name)}, nil, nil)
		check(s.t, err)
		opt := pipeline.Options{Weighting: align.Completion, Workers: 1}
		for stage, err := range pipeline.Stages(s.t.Context(), archive.Runs[0], opt, true) {
			check(s.t, err)
			_, err = stage.Read(s.t.Context(), []mapping.Level{mapping.Cluster}, func(w *window.Window) error {
				at := w.Start.Round(time.Second).Format("05.000")
				cluster[at] += w.Completed
				byHost[at+h.name] += w.Completed
				return nil
			})
			check(s.t, err)
		}
		archive.Close()
	}
	return cluster, byHost
}

// ingest stores the folders of some hosts as one run.
func (s *sharing) ingest(names ...string) ingest.Result {
	s.t.Helper()
	var paths []string
	var of []assign.HostPath
	for _, name := range names {
		path := filepath.Join(s.dir, name)
		paths, of = append(paths, path), append(of, assign.HostPath{Host: name, Path: path})
	}
	archive, err := pipeline.Open(s.t.Context(), paths, nil, nil, of...)
	check(s.t, err)
	defer archive.Close()
	result, err := ingest.Runs(s.t.Context(), s.target(), archive.Runs, s.options.Ingest)
	check(s.t, err)
	return result
}

func equal(t *testing.T, want, got map[string]int64, what string) {
	t.Helper()
	if text := fmt.Sprint(want); text != fmt.Sprint(got) {
		t.Errorf("%s:\n%s, want\n%s", what, fmt.Sprint(got), text)
	}
}

// TestShared: windows of four hosts that begin apart are those of one run, while they run and when all have ended. One of the
// processes that send is restarted. Totals are the sums of the reports, and an ingest of all folders takes the place of the run.
func TestShared(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		const seconds = 30
		s := newSharing(p)
		p.options.Idle = shared.Quiet + 20*time.Second
		s.fio(seconds)
		var following sync.WaitGroup
		for _, h := range hosts[1:] {
			following.Go(func() { s.follow(t.Context(), h.name) })
		}
		following.Go(func() {
			ctx, stop := context.WithTimeout(t.Context(), 12*time.Second)
			defer stop()
			s.follow(ctx, "a")
			time.Sleep(5 * time.Second)
			s.follow(t.Context(), "a")
		})
		time.Sleep(10 * time.Second)
		whole := map[string]int64{"00.000": 1000, "01.000": 3000, "02.000": 3000} // those that all have sent
		live := s.windows(mapping.Cluster)
		for at, n := range live {
			if want := cmp.Or(whole[at], 4000); n != want {
				t.Errorf("while it is live, %d requests at %s, want %d", n, at, want)
			}
		}
		if len(live) < 5 {
			t.Errorf("after 10 s there are %d windows", len(live))
		}
		run, err := s.view.Run(t.Context(), "night")
		check(t, err)
		if len(run.Hosts) != 4 || !run.Run.IsShared() {
			t.Errorf("while it is live: %+v %+v", run.Run, run.Hosts)
		}
		s.ended.Wait()
		following.Wait()
		run = p.only()
		cluster, byHost := s.ofFiles()
		equal(t, cluster, s.windows(mapping.Cluster), "windows of the cluster")
		equal(t, byHost, s.windows(mapping.Host), "windows of hosts")
		if run.Run.Live() || !run.Run.Complete || run.All.Requests != 4*1000*seconds || run.Hosts[3].Read.Requests != 1000*seconds || len(run.Warnings) > 0 {
			t.Errorf("%+v\n%+v %+v\n%s", run.Run, run.All, run.Warnings, p.said())
		}
		if parts, err := p.store.Parts(t.Context(), run.Run.ID); len(parts) > 0 || err != nil {
			t.Errorf("%d parts are left: %v", len(parts), err)
		}
		counts, err := p.store.Count(t.Context(), []string{run.Run.ID})
		if check(t, err); !counts.IsWhole(run) || !counts.IsCurrent(run) {
			t.Errorf("%v, run document %+v", counts, run.Documents)
		}
		if s.ingest("b", "c"); p.only().Run.Ingest != run.Run.Ingest {
			t.Error("two of the folders took the place of the run")
		}
		s.ingest("a", "b", "c", "d")
		now := p.only()
		if now.Run.ID != run.Run.ID || now.Run.Ingest == run.Run.Ingest || now.All.Requests != run.All.Requests || len(now.Hosts) != 4 {
			t.Errorf("after the ingest of all folders: %+v %+v", now.Run, now.All)
		}
		if a, b := *now.Read, *run.Read; !reflect.DeepEqual(a, b) {
			t.Errorf("totals of the ingest %+v, and of the hosts %+v", a, b)
		}
	})
}

// away is a history that is away for some time: what is sent to it waits, and fails after five seconds.
type away struct {
	history.Store
	from, to time.Time
}

var errAway = errors.New("the history is away")

func (a away) there(ctx context.Context) error {
	for end := time.Now().Add(5 * time.Second); !time.Now().Before(a.from) && time.Now().Before(a.to); {
		if err := ctx.Err(); err != nil || time.Now().After(end) {
			return cmp.Or(err, errAway)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

func (a away) Put(ctx context.Context, docs []*mapping.Interval) error {
	if err := a.there(ctx); err != nil {
		return err
	}
	return a.Store.Put(ctx, docs)
}

func (a away) Join(ctx context.Context, run *mapping.Run) (*mapping.Run, error) {
	if err := a.there(ctx); err != nil {
		return nil, err
	}
	return a.Store.Join(ctx, run)
}

func (a away) PutPart(ctx context.Context, p *mapping.Part) error {
	if err := a.there(ctx); err != nil {
		return err
	}
	return a.Store.PutPart(ctx, p)
}

func (a away) Holding(ctx context.Context, files, logs []string) ([]*mapping.Run, error) {
	if err := a.there(ctx); err != nil {
		return nil, err
	}
	return a.Store.Holding(ctx, files, logs)
}

// TestSharedAway: while the history is away, windows of a host come as soon as otherwise, and few wait in memory. When it is back, none is
// missing and none is there twice.
func TestSharedAway(t *testing.T) {
	for _, waiting := range []int{2000, 8} {
		t.Run(fmt.Sprintf("room for %d", waiting), func(t *testing.T) { testSharedAway(t, waiting) })
	}
}

func testSharedAway(t *testing.T, waiting int) {
	inPlace(t, func(t *testing.T, p *place) {
		const seconds = 60
		s := newSharing(p)
		s.waiting = waiting
		s.options.Idle = shared.Quiet + 20*time.Second
		began := time.Now()
		late := time.Duration(0)
		s.fio(seconds)
		var following sync.WaitGroup
		for _, h := range hosts {
			following.Go(func() {
				if h.name != "b" {
					s.follow(t.Context(), h.name)
					return
				}
				s.followWith(t.Context(), h.name, away{s.view, began.Add(8 * time.Second), began.Add(35 * time.Second)}, func(w *window.Window) error {
					if w.End.Before(began.Add(seconds * time.Second)) { // the last one comes when nothing has followed for some time
						late = max(late, time.Since(w.End))
					}
					return nil
				})
			})
		}
		time.Sleep(25 * time.Second)
		if n := s.windows(mapping.Host); n["15.000b"] > 0 || n["05.000b"] == 0 {
			t.Errorf("while the history is away for b: %v", n)
		}
		time.Sleep(20 * time.Second)
		for at, n := range s.windows(mapping.Cluster) {
			if at > "04" && n != 4000 {
				t.Errorf("when the history is back, %d requests at %s", n, at)
			}
		}
		if n := s.windows(mapping.Cluster); len(n) < 38 {
			t.Errorf("when the history is back, there are %d windows", len(n))
		}
		s.ended.Wait()
		following.Wait()
		cluster, byHost := s.ofFiles()
		equal(t, cluster, s.windows(mapping.Cluster), "windows of the cluster")
		equal(t, byHost, s.windows(mapping.Host), "windows of hosts")
		if late > 3*time.Second {
			t.Errorf("a window came %v late", late)
		}
		said := p.said()
		if strings.Count(said, "b: its windows wait, and fio continues: the history is away") != 1 || strings.Count(said, "b: sends again") != 1 {
			t.Error(said)
		}
		if strings.Contains(said, "that had not been kept in memory") != (waiting < 20) {
			t.Errorf("with room for %d windows: %s", waiting, said)
		}
	})
}

// TestSharedAwayAtFirst: a host whose history is away when its fio begins joins later. Its windows come as soon as otherwise, and then all are
// sent.
func TestSharedAwayAtFirst(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		const seconds = 60
		s := newSharing(p)
		s.options.Idle = shared.Quiet + 20*time.Second
		began := time.Now()
		late, n := time.Duration(0), 0
		s.fio(seconds)
		var following sync.WaitGroup
		for _, h := range hosts[:2] {
			following.Go(func() {
				if h.name != "b" {
					s.follow(t.Context(), h.name)
					return
				}
				s.followWith(t.Context(), h.name, away{s.view, began, began.Add(25 * time.Second)}, func(w *window.Window) error {
					if n++; n > 3 && w.End.Before(began.Add(seconds*time.Second)) { // the first ones wait a little for the history
						late = max(late, time.Since(w.End))
					}
					return nil
				})
			})
		}
		time.Sleep(20 * time.Second)
		if n := s.windows(mapping.Host); n["10.000b"] > 0 || n["10.000a"] == 0 {
			t.Errorf("while the history is away for b: %v", n)
		}
		time.Sleep(36 * time.Second)
		if n := s.windows(mapping.Host); n["10.000b"] != 1000 || n["10.000a"] != 1000 {
			t.Errorf("when the history is back: %v", n)
		}
		s.ended.Wait()
		following.Wait()
		_, byHost := s.ofFiles()
		for at := range byHost {
			if !strings.HasSuffix(at, "a") && !strings.HasSuffix(at, "b") {
				delete(byHost, at)
			}
		}
		equal(t, byHost, s.windows(mapping.Host), "windows of hosts")
		if late > 3*time.Second {
			t.Errorf("a window came %v late", late)
		}
		said := p.said()
		for _, text := range []string{"b: its windows wait, and fio continues: the history is away", "b sends to run night", "b: sends again"} {
			if strings.Count(said, text) != 1 {
				t.Errorf("%q is not said once in %s", text, said)
			}
		}
	})
}

// TestLiveAway: while the history is away, windows of a live run of one host come as soon as otherwise, too.
func TestLiveAway(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		const seconds = 40
		began := time.Now()
		late, n := time.Duration(0), 0
		p.options.EndsFio, p.options.Quiet, p.options.Ingest.Pipeline.Weighting = true, time.Hour, align.Completion
		p.options.Window = func(w *window.Window) error {
			late, n = max(late, time.Since(w.End)), n+1
			return nil
		}
		ended := later(0, func() {
			for n := 1; n <= seconds; n++ {
				time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second)))
				write(t, filepath.Join(p.dir, "out.json"), report(began, n))
			}
		})
		ctx, stop := context.WithTimeout(t.Context(), (seconds+2)*time.Second)
		defer stop()
		of := away{p.store, began.Add(8 * time.Second), began.Add(30 * time.Second)}
		_, err := Follow(ctx, ingest.Target{Sink: of, Store: of}, p.options)
		check(t, err)
		ended()
		if late > 4*time.Second || n < seconds-1 {
			t.Errorf("%d windows, one %v late", n, late)
		}
		if said := p.said(); strings.Count(said, "nothing more is stored while fio runs, but all when it has ended: the history is away") != 1 {
			t.Error(said)
		}
	})
}

// TestSharedSilent: a host that is killed is named, the others continue without it, and finish stores what it has sent. A later
// ingest takes the place of the run if it has the folders of all.
func TestSharedSilent(t *testing.T) {
	inPlace(t, func(t *testing.T, p *place) {
		s := newSharing(p)
		p.options.Idle = 15 * time.Second
		s.fio(40)
		var following sync.WaitGroup
		for _, h := range hosts {
			following.Go(func() {
				ctx, stop := t.Context(), func() {}
				if h.name == "c" {
					ctx, stop = context.WithTimeout(ctx, 15*time.Second)
				}
				defer stop()
				s.follow(ctx, h.name)
			})
		}
		time.Sleep(12 * time.Second)
		var said bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		watched := map[string]int64{}
		wait := later(0, func() {
			_, err := Watch(ctx, s.view, p.only().Run.ID, time.Second, slog.New(slog.NewTextHandler(&said, nil)), func(_ *mapping.Run, w *window.Window) error {
				watched[w.Start.Format("05.000")] += w.Completed
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		time.Sleep(16 * time.Second)
		run, err := s.view.Run(t.Context(), "night")
		check(t, err)
		if text := strings.Join(run.Warnings, "\n"); !strings.Contains(text, "c: nothing for ") {
			t.Errorf("warnings: %s", text)
		}
		_, err = shared.FinishAll(t.Context(), s.view, p.store, "night", false)
		if !errors.Is(err, shared.ErrLive) || strings.Contains(err.Error(), "c") && !strings.Contains(err.Error(), "a, b, d") {
			t.Errorf("finish while hosts send: %v", err)
		}
		time.Sleep(5 * time.Second)
		stop()
		wait()
		if text := said.String(); strings.Count(text, "c: nothing for 7s") != 1 || strings.Contains(text, "a: ") {
			t.Errorf("watch said %s", text)
		}
		if watched["10.000"] != 4000 || watched["20.000"] != 3000 || watched["25.000"] != 3000 {
			t.Errorf("watched %v", watched)
		}
		s.ended.Wait()
		following.Wait()
		finished, err := shared.FinishAll(t.Context(), s.view, p.store, "night", false)
		check(t, err)
		run = p.only()
		if len(finished) != 1 || run.Run.Live() || run.Run.Complete || !run.Run.Partial || !slices.ContainsFunc(run.Warnings, func(w string) bool { return strings.Contains(w, "missing of c") }) {
			t.Errorf("%+v\n%s", run.Run, run.Warnings)
		}
		if n := run.All.Requests; n <= 3*40*1000 || n >= 4*40*1000 {
			t.Errorf("%d requests", n)
		}
		if s.ingest("a", "b", "d"); p.only().Run.Ingest != run.Run.Ingest {
			t.Error("what the silent host had sent is gone")
		}
		s.ingest("a", "b", "c", "d")
		if now := p.only(); now.Run.ID != run.Run.ID || now.All.Requests != 4*40*1000 {
			t.Errorf("after the ingest of all folders: %+v %+v\n%s", now.Run, now.All, p.said())
		}
	})
}
