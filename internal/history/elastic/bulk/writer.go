package bulk

import (
	"context"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping"
)

// Writer stores documents in an Elasticsearch cluster. Put returns before they are
// stored. Finish of a run returns nil when each of its documents is stored, or rejected for
// good and recorded in the reject file. Several runs may be under way at the same time.
//
// A packer packs documents into bulk requests, senders send several of these at a time, and
// a finisher finishes runs whose documents are settled: stored or rejected. At most
// [Options].InFlight+2 bodies are in memory, and Put waits when they are full. Failed requests
// are retried as long as that can help. Ids are fixed and the action is index, so a document
// that arrives twice is stored once.
//
// Close it, also after an error.
type Writer struct {
	*ledger
	client   *es.Client
	opt      Options
	packer   *packer
	senders  *senders
	finisher *finisher

	preparing  chan struct{} // one at a time, so that all who wait end with their contexts
	isPrepared bool
}

// ErrClosed is the error of a writer that is used after Close.
var ErrClosed = errors.New("the writer is closed")

// New is a writer to the cluster of client. It sends nothing yet. It fails with [es.ErrGaveUp]
// when no document was settled for as long as the client waits without progress.
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

// Put takes interval documents, or none of them when one does not pass its Check. It waits
// while the cluster does not keep up. An error may be about documents of earlier calls: the cluster
// rejects everything, or this run's (see [Options].RejectFile).
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

// Finish takes the document of a run. It waits until each document of this version of the run is
// stored or in the reject file, counts them in the cluster ([ErrVerify]), and stores the
// run's document. If the cluster has interval documents of other versions of the run, it then
// deletes those, counts again, and removes the mark that hides the new ones from dashboards.
// It deletes nothing of another version before all of this one is stored. After a failure,
// calling it again continues.
//
// Runs that are finished at the same time share the requests that this takes: to finish
// many small runs quickly, call it for many of them at once.
//
// If the cluster has the run's document already, and it differs only in Ingested, that stays
// as it was.
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

// Prepare fails if nothing can be sent. The first time, it checks the cluster and refreshes the
// indices, so that versions that an earlier process has stored are found.
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

// Flush waits until all documents so far are settled. It returns the error that ended the
// writer; an error of a run's documents comes from the run's Finish.
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

// Close ends requests under way and waits for them. It fails if documents were not stored:
// call Flush or Finish before.
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

// Stats counts what was done so far.
func (s *Writer) Stats() Stats { return s.senders.statistics() }
