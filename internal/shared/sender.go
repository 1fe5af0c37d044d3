package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Member is one fio on one host that takes part in the run of a name.
type Member struct {
	Name string // of the run
	Host string
	Unit string // name of the fio among those of its host

	Waiting int // most documents that wait in memory while the history is away; 0: 2000
}

// ErrSending means that another process sends the same part.
var ErrSending = errors.New("another fio of this host has the same name and sends to this run: give it another name (fio --name), or run it after that one")

// Attempt returns which attempt at the run of a name a fio joins, from 1. It is the newest one, unless that is over or the fio
// took part in it and has ended: then the next one begins. If isNew is true, the fio begins now, so a part that something still sends is
// not its own.
func Attempt(ctx context.Context, store history.Store, m Member, isNew bool) (int, error) {
	runs, attempt, err := newest(ctx, store, m.Name)
	if err != nil || attempt == 0 {
		return 1, err
	}
	isLive, over := false, true
	for _, run := range runs {
		if !shared(run) {
			continue
		}
		isLive = true
		own, err := store.Sign(ctx, &mapping.Part{Run: run.Run.ID, Host: m.Host, Unit: m.Unit})
		parts := []*mapping.Part{own}
		if err == nil && own == nil {
			parts, err = store.Signs(ctx, run.Run.ID, false)
		}
		var now time.Time
		if err == nil && len(parts) > 0 {
			now, err = store.Now(ctx)
		}
		if err != nil {
			return 0, err
		}
		over = over && isOver(parts, now)
		switch {
		case own == nil:
		case isNew && own.Ended.IsZero() && !isSilent(own, now):
			return 0, fmt.Errorf("%s on %s: %w", m.Unit, m.Host, ErrSending)
		case isNew || !own.Ended.IsZero():
			return attempt + 1, nil
		}
	}
	if !isLive || over {
		return attempt + 1, nil
	}
	return attempt, nil
}

// newest returns the runs of the newest attempt at the run of a name: its stages, in the order of their start. The attempt is 0 if
// there is none.
func newest(ctx context.Context, store history.Store, name string) (runs []*mapping.Run, attempt int, err error) {
	for {
		of := history.RunFilter{Execution: mapping.SharedID(name, attempt+1), Light: true}
		next, err := history.Collect(store.Runs(ctx, of), nil)
		if errors.Is(err, history.ErrNoIndex) {
			err = nil
		}
		if err != nil || len(next) == 0 {
			slices.Reverse(runs)
			return runs, attempt, err
		}
		runs, attempt = next, attempt+1
	}
}

// ErrGrid means that the windows of a fio have another length than those of the run.
var ErrGrid = errors.New("let fio report as often on all hosts (--reports, --status-interval)")

// Sender sends the windows of one fio to the run that its host shares with others. Windows wait in memory while the history is away, up to
// a number: others are taken from fio's reports when it is back. So are those that were added before it joined the run.
type Sender struct {
	store history.Store
	most  int // documents that wait

	sending sync.Mutex    // one at a time; guards renewed
	news    chan struct{} // there is a newer document
	renewed time.Time     // when the whole part was sent
	tries   int           // of Next to join

	mu       sync.Mutex // guards all below, and is not held while something is sent
	run      *mapping.Run
	joined   time.Time    // zero: not yet
	doc      *mapping.Run // offered since the last part was sent
	part     mapping.Part
	isPlaced bool // the edges of this fio, with the offset of the part, are those of the run
	docs     []*mapping.Interval
	windows  int       // that were added
	end      time.Time // of the latest one
	lost     int       // windows that did not fit
	lostFrom time.Time // start of the first of them; zero: all
	offered  time.Time
	whole    map[documentKey]bool // windows of a fio that is read when it has ended
}

// documentKey identifies a document among those of a part.
type documentKey struct {
	elapsedMS      int64
	direction, job string
	part           int
}

func keyOf(d *mapping.Interval) documentKey {
	return documentKey{d.Window.ElapsedMS, d.Fio.Direction, d.Fio.Job, d.Part}
}

// mostWaiting is how many documents may wait, some 10 kB each.
const mostWaiting = 2000

// New returns a sender of a fio that takes part in a stage of an attempt at a run. doc is what is known of the stage on this host: the run gets
// its settings and labels from its first host. It joins the run with the first document that it sends.
func New(store history.Store, m Member, attempt int, doc *mapping.Run) *Sender {
	run := *doc
	execution := mapping.SharedID(m.Name, attempt)
	run.Run.Execution, run.Run.ID = execution, mapping.StageID(execution, run.Run.Stage, run.Run.Stages)
	run.Run.Name, run.Run.Archive, run.Run.Path = m.Name, "", ""
	if run.Run.Stages > 1 {
		run.Run.Name += "/" + run.Run.StageName
	}
	run.Run.Ingest, run.Run.Complete, run.Run.Start = mapping.SharedIngest(attempt), false, cell(doc.Run.Start, doc.IntervalMS)
	run.Run.End = time.Time{}
	run.Levels = []mapping.Level{mapping.Host}
	return &Sender{
		store: store, run: &run, news: make(chan struct{}, 1), whole: map[documentKey]bool{}, most: cmp.Or(m.Waiting, mostWaiting),
		part: mapping.Part{Run: run.Run.ID, Ingest: run.Run.Ingest, Host: m.Host, Unit: m.Unit},
	}
}

// Join makes the fio take part in its run, if it does not yet.
func (s *Sender) Join(ctx context.Context) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.join(ctx)
}

func (s *Sender) join(ctx context.Context) error {
	if s.HasJoined() {
		return nil
	}
	run, err := s.store.Join(ctx, s.run)
	switch {
	case err != nil:
		return err
	case run.Run.Ingest != s.run.Run.Ingest:
		return fmt.Errorf("run %s: %w", s.run.Run.Name, history.ErrReplaced)
	case run.IntervalMS != s.run.IntervalMS:
		return fmt.Errorf("its windows are of %d ms, and those of run %s of %d ms: %w", s.run.IntervalMS, run.Run.Name, run.IntervalMS, ErrGrid)
	}
	part, err := s.store.Sign(ctx, &s.part)
	if err == nil && part == nil {
		own := s.part
		part = &own
		var offset, bound time.Duration
		offset, bound, err = clockOf(ctx, s.store)
		part.ClockMS, part.ClockErrorMS = offset.Round(time.Millisecond).Milliseconds(), (bound + time.Millisecond - 1).Milliseconds()
		part.OffsetMS = part.ClockMS
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.joined, s.part = run, time.Now(), *part
	return nil
}

// HasJoined reports whether the fio takes part in its run.
func (s *Sender) HasJoined() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.joined.IsZero()
}

// Run returns the run as documents have it. Before the fio has joined, labels and the start may be others.
func (s *Sender) Run() mapping.RunInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run.Run
}

// Add takes the documents of a window of the fio, of all its jobs or of a section. nominal is when the window began by the grid of
// this fio. It becomes a window of the host on the grid of the run. Add never waits: what does not fit is lost until [Sender.Put]
// brings it again.
func (s *Sender) Add(nominal time.Time, docs []*mapping.Interval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.joined.IsZero() {
		s.windows++
		s.lost++
		return
	}
	for _, d := range docs { // they may have been made before it joined
		d.Run.Start = s.run.Run.Start
		d.Relabel(&s.run.Run)
	}
	start := s.place(nominal, docs)
	if s.windows++; len(s.docs)+len(docs) <= s.most {
		s.docs = append(s.docs, docs...)
		return
	}
	if s.lost++; s.lost == 1 || start.Before(s.lostFrom) {
		s.lostFrom = start
	}
}

// Put is like Add, and sends windows that wait when they are many. Of a fio that was added before it takes only what was lost; of another
// one it gets all windows, and [Sender.End] follows.
func (s *Sender) Put(ctx context.Context, nominal time.Time, docs []*mapping.Interval) error {
	s.mu.Lock()
	isAgain := s.lost > 0
	if start := s.place(nominal, docs); isAgain && start.Before(s.lostFrom) {
		docs = nil
	}
	if !isAgain {
		s.windows++
		for _, d := range docs {
			s.whole[keyOf(d)] = true
		}
	}
	s.docs = append(s.docs, docs...)
	docs = s.docs
	s.mu.Unlock()
	if len(docs) < s.most/2 {
		return nil
	}
	s.sending.Lock()
	defer s.sending.Unlock()
	if err := s.store.Put(ctx, docs); err != nil {
		return err
	}
	s.forget(len(docs))
	return nil
}

// Lost returns how many windows did not fit.
func (s *Sender) Lost() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// Again brings windows that did not fit, with put, which must call [Sender.Put] with all windows so far.
func (s *Sender) Again(ctx context.Context, put func() error) error {
	before := s.Lost()
	err := put()
	if err == nil {
		err = s.Send(ctx, nil, time.Now())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.lost == before {
		s.lost = 0
	}
	return err
}

// place makes windows of the host on the grid of the run. One that is as long as several, because fio hung, stays so. Its ends are the
// edges that are nearest to its times, as those of its neighbours are.
func (s *Sender) place(nominal time.Time, docs []*mapping.Interval) (start time.Time) {
	length := time.Duration(s.run.IntervalMS) * time.Millisecond
	edge := func(t time.Time) time.Time {
		return t.Add(time.Duration(s.part.OffsetMS) * time.Millisecond).Round(length).UTC()
	}
	start = edge(nominal)
	if !s.isPlaced {
		s.part.OffsetMS, s.isPlaced = start.Sub(nominal).Milliseconds(), true
	}
	end := start.Add(length)
	if len(docs) > 0 {
		if nominal.Sub(docs[0].Time) > length/2 { // fio hung before it
			start = edge(docs[0].Time)
		}
		if last := edge(docs[0].Window.End); last.After(end) {
			end = last
		}
	}
	ms := end.Sub(start).Milliseconds()
	for _, d := range docs {
		scale := float64(d.Window.MS) / float64(ms)
		d.Level, d.Host.Name, d.Fio.Job, d.Run.Hosts = mapping.Host, s.part.Host, s.part.Unit, []string{s.part.Host}
		if d.Fio.Section != "" {
			d.Fio.Job += ":" + d.Fio.Section
		}
		d.Time = start
		d.Window = mapping.Window{End: end, MS: ms, ElapsedMS: start.Sub(s.run.Run.Start).Milliseconds(), Fastest: d.Window.Fastest, Slowest: d.Window.Slowest}
		d.IOPS, d.Bandwidth = mapping.Rounded(d.IOPS*scale, 1000), mapping.Rounded(d.Bandwidth*scale, 1)
	}
	if end.After(s.end) {
		s.end = end
	}
	return start
}

// IsDue reports whether no document was offered for some time.
func (s *Sender) IsDue(every time.Duration, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.offered) >= every
}

// Offer says what this fio knows of the run, to be sent with all windows so far by [Sender.Next].
func (s *Sender) Offer(doc *mapping.Run, now time.Time) {
	s.mu.Lock()
	s.doc, s.offered = doc, now
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// Over says that the stage of the run is over, though its fio may run on.
func (s *Sender) Over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.part.Over = true
}

// Next waits until there is something to send, or a sign of life is due, because fio may hang, and sends it. Before the fio has joined its run,
// Next tries that, after a pause that grows up to half a minute. It returns false if ctx has ended.
func (s *Sender) Next(ctx context.Context) (isOn bool, err error) {
	news, pause := s.news, Beat
	if !s.HasJoined() {
		news, pause = nil, 0
		if s.tries > 0 {
			pause = min(time.Second<<min(s.tries-1, 5), 30*time.Second)
			pause -= rand.N(pause / 2) // many hosts may wait for the same history
		}
		s.tries++
	}
	select {
	case <-news:
	case <-time.After(pause):
	case <-ctx.Done():
		return false, nil
	}
	return true, s.Send(ctx, nil, time.Now())
}

// Send stores all windows so far, with the document of the run as this fio has it, or with the last one if that is nil. If the run was
// replaced or removed, it removes what it has sent, and fails with [history.ErrReplaced]. After another error the windows still wait.
func (s *Sender) Send(ctx context.Context, doc *mapping.Run, now time.Time) error {
	return s.send(ctx, doc, false, now, func(p *mapping.Part) {
		// other directions of the latest window may follow
		until := s.end.Add(-time.Duration(s.run.IntervalMS) * time.Millisecond)
		if s.lost > 0 && s.lostFrom.Before(until) {
			until = s.lostFrom
		}
		if !s.end.IsZero() && until.After(p.Last) {
			p.Last = until
		}
	})
}

// End sends the last windows, and that the fio has ended, with its exit code. Windows that were sent while it ran, and that it does not
// have in the end, are emptied.
func (s *Sender) End(ctx context.Context, doc *mapping.Run, exit int, now time.Time) error {
	extra, err := s.extra(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	for _, d := range extra {
		d.Requests, d.IOPS, d.Bandwidth, d.DocCount, d.Latency, d.Bounds = mapping.Requests{}, 0, 0, 0, mapping.Latency{}, nil
	}
	s.docs = append(s.docs, extra...)
	s.mu.Unlock()
	return s.send(ctx, doc, true, now, func(p *mapping.Part) { p.Last, p.Ended, p.Exit = s.end, s.at(now), exit })
}

// extra returns the stored windows of the part that are not among all of its fio.
func (s *Sender) extra(ctx context.Context) (docs []*mapping.Interval, err error) {
	s.mu.Lock()
	whole, p := maps.Clone(s.whole), s.part
	s.mu.Unlock()
	if len(whole) == 0 {
		return nil, nil
	}
	if _, err := s.store.Signs(ctx, p.Run, true); err != nil { // after which windows that were sent are visible
		return nil, err
	}
	sel := history.Selection{Runs: []string{p.Run}, Level: mapping.Host, Hosts: []string{p.Host}, Light: true}
	for d, err := range raw(s.store).Intervals(ctx, sel) {
		switch isOwn := err == nil && (d.Fio.Job == p.Unit || strings.HasPrefix(d.Fio.Job, p.Unit+":")); {
		case errors.Is(err, history.ErrNoIndex):
			return nil, nil
		case err != nil:
			return nil, err
		case isOwn && !whole[keyOf(d)]:
			docs = append(docs, d)
		}
	}
	return docs, nil
}

// send sends a sign of life, or the whole part if it must, or the last one has grown old: at first the totals of a part change fast.
func (s *Sender) send(ctx context.Context, doc *mapping.Run, whole bool, now time.Time, with func(*mapping.Part)) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if err := s.join(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	if doc = cmp.Or(doc, s.doc); doc != nil {
		s.know(doc)
		s.doc = nil
	}
	s.part.Seen, s.part.Windows = s.at(now), s.windows
	with(&s.part)
	part, docs := s.part, s.docs
	isOld := now.Sub(s.renewed) >= min(mostOld, s.renewed.Sub(s.joined)/4)
	s.mu.Unlock()
	if part.Document == nil && s.renewed.IsZero() { // nothing is known yet
		return nil
	}
	if len(docs) > 0 {
		if err := s.store.Put(ctx, docs); err != nil {
			return err
		}
	}
	if whole = whole || isOld; !whole {
		part = *part.Sign()
	}
	err := s.store.PutPart(ctx, &part)
	switch {
	case err == nil && whole:
		s.renewed = now
	case errors.Is(err, history.ErrNotFound):
		s.renewed = time.Time{}
	}
	if err == nil {
		s.forget(len(docs))
	}
	return err
}

// mostOld is how old the totals of a part may be while its fio runs.
const mostOld = 30 * time.Second

// forget removes the first n windows, which are stored.
func (s *Sender) forget(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs = slices.Clone(s.docs[n:])
}

// know takes the document of the run as this fio has it.
func (s *Sender) know(doc *mapping.Run) {
	one := *doc
	one.Levels, one.Documents = []mapping.Level{mapping.Host}, mapping.Documents{Host: s.windows}
	offset := time.Duration(s.part.ClockMS) * time.Millisecond
	if one.Run.Start = one.Run.Start.Add(offset); !one.Run.End.IsZero() {
		one.Run.End = one.Run.End.Add(offset)
	}
	one.Hosts = slices.Clone(one.Hosts)
	for i := range one.Hosts {
		one.Hosts[i].Start, one.Hosts[i].ClockOffsetMS = one.Hosts[i].Start.Add(offset), s.part.ClockMS
	}
	if text := s.Clock(); text != "" {
		one.Warnings = append(slices.Clone(one.Warnings), text)
	}
	s.part.Document, s.part.Files = &one, one.Source.Hashes()
}
