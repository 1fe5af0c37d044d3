package bulk

import (
	"context"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping"
)

// Writer stores documents in an Elasticsearch cluster. Put returns before they are stored. Finish returns nil when
// each document of the run is stored, or rejected for good and in the reject file. Several runs may be under way at
// the same time.
//
// A packer packs documents into bulk requests. Senders send several requests at a time. A finisher finishes runs
// whose documents are settled: stored or rejected. At most [Options].InFlight+2 bodies are in memory; when they are
// full, Put waits. Failed requests are retried while that can help. Ids are fixed and the action is index, so a
// document that arrives twice is stored once.
//
// Call Close at the end, also after an error.
type Writer struct {
	*ledger
	client   *es.Client
	opt      Options
	packer   *packer
	senders  *senders
	finisher *finisher

	preparing  chan struct{} // one goroutine prepares at a time; a channel, because waiting must end with a context
	isPrepared bool
}

// ErrClosed means that the writer was used after Close.
var ErrClosed = errors.New("the writer is closed")

// New makes a writer to the cluster of client. It sends nothing yet.
func New(client *es.Client, options Options) *Writer {
	opt, l := options.withDefaults(), newLedger()
	throttle, rejects := newThrottle(opt.BodyBytes, opt.InFlight), &rejectFile{path: opt.RejectFile}
	versions := &versions{ledger: l, client: client, index: opt.Prefix + "-latency.*", latest: make(map[string]string)}
	senders := &senders{
		ledger: l, client: client, throttle: throttle, versions: versions, rejects: rejects, mostRejects: opt.MaxRejects,
	}
	packer := &packer{ledger: l, throttle: throttle, bodies: opt.InFlight + 2, send: senders.send}
	finisher := &finisher{ledger: l, packer: packer, batch: batch{
		ledger: l, client: client, senders: senders, versions: versions, light: newLightPacker(), index: mapping.RunsIndex(opt.Prefix), noVerify: opt.NoVerify,
	}}
	return &Writer{
		ledger: l, client: client, opt: opt, packer: packer, senders: senders, finisher: finisher,
		preparing: make(chan struct{}, 1),
	}
}

// Put takes interval documents. If one does not pass its Check, it takes none of them. It waits while the cluster is
// slower than the caller. Its error may be about documents of earlier calls, for example if the cluster rejects
// everything (see [Options].RejectFile). If no document is settled for the time that the client waits without
// progress, the error is [es.ErrGaveUp].
func (s *Writer) Put(ctx context.Context, docs []*mapping.Interval) error {
	for _, d := range docs {
		if err := d.Check(); err != nil {
			return fmt.Errorf("put documents: %w", err)
		}
	}
	if err := s.Prepare(ctx); err != nil {
		return fmt.Errorf("put documents: %w", err)
	}
	var text []byte
	for _, d := range docs {
		e := newEntry(d.ID(), runKey{d.Run.ID, d.Run.Ingest})
		text = e.encode(text, d.Index(s.opt.Prefix), d.AppendJSON)
		if err := s.packer.add(ctx, e, text); err != nil {
			return fmt.Errorf("put documents: %w", err)
		}
	}
	return nil
}

// Finish takes the document of a run and waits until each document of this version is stored or in the reject file.
// Then it counts them in the cluster ([ErrVerify]) and stores the run document. If the cluster has interval
// documents of other versions of the run, Finish then deletes these, counts again, and removes the mark that hides
// the new ones from dashboards. Nothing of another version is deleted before all of this version is stored. After a
// failure, a second call continues.
//
// Runs that are finished at the same time share requests. So to finish many small runs quickly, call Finish for many
// of them at once.
//
// If the cluster has the same run document except for Ingested, the stored Ingested stays.
func (s *Writer) Finish(ctx context.Context, run *mapping.Run) error {
	err := run.Check()
	if err == nil {
		err = s.Prepare(ctx)
	}
	if err == nil {
		err = s.finisher.finish(ctx, run)
	}
	if err != nil {
		return fmt.Errorf("finish run %s: %w", run.Run.ID, err)
	}
	return nil
}

// Prepare fails if nothing can be sent. Its first call checks the cluster, and refreshes the indices, so that
// versions stored by an earlier process are found.
func (s *Writer) Prepare(ctx context.Context) error {
	s.mu.Lock()
	err := s.fatal
	s.mu.Unlock()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	select {
	case s.preparing <- struct{}{}:
		defer func() { <-s.preparing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.isPrepared {
		return nil
	}
	if err := s.checkTemplates(ctx); err != nil {
		return err
	}
	if err := s.client.Refresh(ctx, s.opt.Prefix+"-latency.*"); err != nil {
		return advised(err)
	}
	s.isPrepared = true
	return nil
}

// Flush waits until all documents so far are settled. It returns the error that ended the writer. An error of a
// run's documents is returned by Finish for that run.
func (s *Writer) Flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packer.flush()
	for s.packer.used > 0 && s.fatal == nil {
		if err := s.wait(ctx); err != nil {
			return fmt.Errorf("flush documents: %w", err)
		}
	}
	if s.fatal != nil {
		return fmt.Errorf("flush documents: %w", s.fatal)
	}
	return nil
}

// Close ends requests under way and waits for them. It fails if documents were not stored, so call Flush or Finish
// before.
func (s *Writer) Close() error {
	s.fail(ErrClosed)
	s.background.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.senders.rejects.close()
	if lost := len(s.pending); lost > 0 {
		err = errors.Join(fmt.Errorf("close: %d documents were not stored", lost), err)
	}
	return err
}

// Rejected returns the number of documents that were rejected for good so far.
func (s *Writer) Rejected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rejected
}
