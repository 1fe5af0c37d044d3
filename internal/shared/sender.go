package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
		parts, now, err := Parts(ctx, store, run.Run.ID)
		if err != nil {
			return 0, err
		}
		over = over && isOver(parts, now)
		i := slices.IndexFunc(parts, func(p *mapping.Part) bool { return p.Host == m.Host && p.Unit == m.Unit })
		switch {
		case i < 0:
		case isNew && parts[i].Ended.IsZero() && !isSilent(parts[i], now):
			return 0, fmt.Errorf("%s on %s: %w", m.Unit, m.Host, ErrSending)
		case isNew || !parts[i].Ended.IsZero():
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

// Sender sends the windows of one fio to the run that its host shares with others. Windows wait in memory while the history is away, up to
// a number: others are taken from fio's reports when it is back.
type Sender struct {
	store  history.Store
	run    *mapping.Run
	joined time.Time
	most   int // documents that wait

	sending sync.Mutex    // one at a time
	news    chan struct{} // there is a newer document

	mu       sync.Mutex // guards all below, and is not held while something is sent
	part     mapping.Part
	isPlaced bool // the offset of the part is known
	docs     []*mapping.Interval
	windows  int       // that were added
	end      time.Time // of the latest one
	lost     int       // windows that did not fit
	lostFrom time.Time // start of the first of them
	offered  time.Time
	whole    map[place]bool // windows of a fio that is read when it has ended
}

// place is that of a document among those of a part.
type place struct {
	elapsedMS      int64
	direction, job string
	part           int
}

func placeOf(d *mapping.Interval) place {
	return place{d.Window.ElapsedMS, d.Fio.Direction, d.Fio.Job, d.Part}
}

// mostWaiting is how many documents may wait, some 10 kB each.
const mostWaiting = 2000

// Join makes a fio take part in a stage of an attempt at a run. doc is what is known of the stage on this host: the run gets its settings
// and labels from its first host.
func Join(ctx context.Context, store history.Store, m Member, attempt int, doc *mapping.Run) (*Sender, error) {
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
	joined, err := store.Join(ctx, &run)
	switch {
	case err != nil:
		return nil, err
	case joined.Run.Ingest != run.Run.Ingest:
		return nil, fmt.Errorf("run %s: %w", m.Name, history.ErrReplaced)
	case joined.IntervalMS != run.IntervalMS:
		return nil, fmt.Errorf("its windows are of %d ms, and those of run %s of %d ms: let fio report as often on all hosts (--reports, --status-interval)",
			run.IntervalMS, m.Name, joined.IntervalMS)
	}
	s := &Sender{store: store, run: joined, joined: time.Now(), news: make(chan struct{}, 1), whole: map[place]bool{}, most: cmp.Or(m.Waiting, mostWaiting), part: mapping.Part{Run: joined.Run.ID, Ingest: joined.Run.Ingest, Host: m.Host, Unit: m.Unit}}
	parts, err := store.Parts(ctx, joined.Run.ID)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p.ID() == s.part.ID() { // sent by a process that was killed: no window is moved
			s.part, s.isPlaced = *p, true
			return s, nil
		}
	}
	offset, bound, err := clockOf(ctx, store)
	s.part.ClockMS, s.part.ClockErrorMS = offset.Round(time.Millisecond).Milliseconds(), (bound + time.Millisecond - 1).Milliseconds()
	s.part.OffsetMS = s.part.ClockMS
	return s, err
}

// Run returns the run as documents have it.
func (s *Sender) Run() mapping.RunInfo { return s.run.Run }

// Add takes the documents of a window of the fio, of all its jobs or of a section. nominal is when the window began by the grid of
// this fio. It becomes a window of the host on the grid of the run. Add never waits: what does not fit is lost until [Sender.Put]
// brings it again.
func (s *Sender) Add(nominal time.Time, docs []*mapping.Interval) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
			s.whole[placeOf(d)] = true
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

// place makes windows of the host on the grid of the run. One that is as long as several, because fio hung, stays so.
func (s *Sender) place(nominal time.Time, docs []*mapping.Interval) (start time.Time) {
	length := time.Duration(s.run.IntervalMS) * time.Millisecond
	if len(docs) > 0 && nominal.Sub(docs[0].Time) > length/2 { // fio hung before it
		nominal = docs[0].Time
	}
	start = nominal.Add(time.Duration(s.part.OffsetMS) * time.Millisecond).Round(length).UTC()
	if !s.isPlaced {
		s.part.OffsetMS, s.isPlaced = start.Sub(nominal).Milliseconds(), true
	}
	end := start.Add(length)
	if len(docs) > 0 {
		end = start.Add(max(length, docs[0].Window.End.Sub(nominal).Round(length)))
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
	s.know(doc)
	s.offered = now
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// Next waits until there is something to send, or a sign of life is due, because fio may hang, and sends it. It returns false if ctx has
// ended.
func (s *Sender) Next(ctx context.Context) (isOn bool, err error) {
	select {
	case <-s.news:
	case <-time.After(Beat):
	case <-ctx.Done():
		return false, nil
	}
	return true, s.Send(ctx, nil, time.Now())
}

// Send stores all windows so far, with the document of the run as this fio has it, or with the last one if that is nil. If the run was
// replaced or removed, it removes what it has sent, and fails with [history.ErrReplaced]. After another error the windows still wait.
func (s *Sender) Send(ctx context.Context, doc *mapping.Run, now time.Time) error {
	return s.send(ctx, doc, now, func(p *mapping.Part) {
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
	if err := s.empty(ctx); err != nil {
		return err
	}
	return s.send(ctx, doc, now, func(p *mapping.Part) { p.Last, p.Ended, p.Exit = s.end, s.at(now), exit })
}

// empty adds windows without requests in the place of those that were stored and are not among all of the fio.
func (s *Sender) empty(ctx context.Context) error {
	if len(s.whole) == 0 {
		return nil
	}
	if _, err := s.store.Parts(ctx, s.run.Run.ID); err != nil { // after which windows that were sent are visible
		return err
	}
	sel := history.Selection{Runs: []string{s.run.Run.ID}, Level: mapping.Host, Hosts: []string{s.part.Host}, Light: true}
	for d, err := range s.store.Intervals(ctx, sel) {
		switch {
		case errors.Is(err, history.ErrNoIndex):
			return nil
		case err != nil:
			return err
		case d.Fio.Job != s.part.Unit && !strings.HasPrefix(d.Fio.Job, s.part.Unit+":"), s.whole[placeOf(d)]:
			continue
		}
		d.Requests, d.IOPS, d.Bandwidth, d.DocCount, d.Latency, d.Bounds = mapping.Requests{}, 0, 0, 0, mapping.Latency{}, nil
		s.docs = append(s.docs, d)
	}
	return nil
}

func (s *Sender) send(ctx context.Context, doc *mapping.Run, now time.Time, with func(*mapping.Part)) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.mu.Lock()
	if doc != nil {
		s.know(doc)
	}
	s.part.Seen = s.at(now)
	with(&s.part)
	part, docs := s.part, s.docs
	s.mu.Unlock()
	if part.Document == nil { // nothing is known yet
		return nil
	}
	if len(docs) > 0 {
		if err := s.store.Put(ctx, docs); err != nil {
			return err
		}
	}
	if err := s.store.PutPart(ctx, &part); err != nil {
		return err
	}
	s.forget(len(docs))
	return nil
}

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
