package elastic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// mostTerms limits the values in one query. Elasticsearch allows 65,536 terms, and 10,000 hits in one answer.
const mostTerms = 10_000

// Run implements [history.Store].
func (e *Store) Run(ctx context.Context, id string) (*mapping.Run, error) {
	run, err := e.find(ctx, id)
	return run, e.fail(ctx, "read", err)
}

func (e *Store) find(ctx context.Context, id string) (*mapping.Run, error) {
	if run, _, err := e.fetch(ctx, id); !errors.Is(err, history.ErrNotFound) {
		return run, err
	}
	var ids []string
	for h, err := range e.runDocs(ctx, "find run", es.Prefix("run.id", id), history.Candidates+1, []string{"run.id"}) {
		if err != nil {
			return nil, err
		}
		// an exact id sorts before longer ids that begin with it
		if ids = append(ids, h.Source.id); h.Source.id == id || len(ids) > history.Candidates {
			break
		}
	}
	if err := history.CheckOne(id, ids); err != nil {
		return nil, err
	}
	run, _, err := e.fetch(ctx, ids[0])
	return run, err
}

// fetch returns the run with this full id, and the state of its document.
func (e *Store) fetch(ctx context.Context, id string) (*mapping.Run, finished, error) {
	for h, err := range e.runDocs(ctx, "read run", es.Term("run.id", id), 1, nil) {
		if err != nil {
			return nil, finished{}, err
		}
		run, err := h.Source.result()
		if err != nil {
			return nil, finished{}, err
		}
		return run, finished{run.Run.Ingest, state{h.Seq, h.Term}}, nil
	}
	return nil, finished{}, fmt.Errorf("read run %q: %w", id, history.ErrNotFound)
}

// runDocs returns the run documents that a query finds, sorted by id: the fields that source names, or all. The first
// page has size documents.
func (e *Store) runDocs(ctx context.Context, verb string, query any, size int, source any) iter.Seq2[*hit[runDoc], error] {
	s := scan[runDoc]{e: e, verb: verb, index: e.runs(), request: request{
		Size: min(size, e.limits.pageHits), Query: es.All(query), Sort: []any{ascending("run.id")}, Source: source, Sequence: true,
	}}
	return s.all(ctx, 0)
}

// chunked calls read for parts of a list that fit into a query. Without an index there are no documents.
func chunked(list []string, read func(some []string) error) error {
	for some := range slices.Chunk(list, mostTerms) {
		if err := read(some); err != nil && !errors.Is(err, history.ErrNoIndex) {
			return err
		}
	}
	return nil
}

// Runs implements [history.Store].
func (e *Store) Runs(ctx context.Context, f history.RunFilter) iter.Seq2[*mapping.Run, error] {
	// runs on the first page: a light document has about a hundred bytes compressed, a whole one some KB
	const light, whole = 1000, 20
	return f.Select(func(yield func(*mapping.Run, error) bool) {
		ahead := e.limits.ahead
		s := &scan[runDoc]{e: e, verb: "list runs", index: e.runs(), request: request{
			Size: min(whole, e.limits.pageHits), Query: runQuery(&f), Sort: []any{descending("@timestamp"), ascending("run.id")},
		}}
		list := s.documents
		if f.Light {
			s.request.Size, s.request.Values = min(light, e.limits.pageHits), []string{mapping.LightField}
			s.request.Stored = "_none_" // reading only _id would make the cluster read the whole document
			list = func(ctx context.Context, ahead int) iter.Seq2[*runDoc, error] {
				return s.light(ctx, ahead, history.DecodeRun)
			}
		}
		if f.Limit > 0 && f.Text == "" {
			s.request.Size, ahead = min(s.request.Size, f.Limit), 0
		}
		// one page may not be enough
		if f.Limit == 0 || f.Limit > s.request.Size || f.Text != "" || f.Where != nil && !f.Live() {
			id, err := e.openPIT(ctx, e.runs())
			if err != nil {
				yield(nil, e.fail(ctx, "read", err))
				return
			}
			s.index, s.request.PIT = "", &pit{ID: id, KeepAlive: e.keepAlive()}
		}
		for d, err := range list(ctx, ahead) {
			run := (*mapping.Run)(nil)
			if err == nil {
				run, err = d.result()
			}
			if !yield(run, e.fail(ctx, "read", err)) {
				return
			}
		}
	})
}

// heavy are the fields that light documents leave out.
var heavy = append([]string{"source.list"}, bins...)

// Intervals implements [history.Store]. It reads from a point in time, so it sees one state of the history even if
// the caller is slow.
func (e *Store) Intervals(ctx context.Context, sel history.Selection) iter.Seq2[*mapping.Interval, error] {
	const first = 200 // documents on the first page
	sel.Level = max(sel.Level, mapping.Cluster)
	return func(yield func(*mapping.Interval, error) bool) {
		id, runs, err := e.settle(ctx, &sel, nil)
		if err != nil {
			yield(nil, e.fail(ctx, "read", err))
			return
		}
		if id == "" {
			return
		}
		s := &scan[mapping.Interval]{
			e: e, verb: "read intervals",
			request: request{
				PIT: &pit{ID: id, KeepAlive: e.keepAlive()}, Size: min(first, e.limits.pageHits), Query: intervalQuery(&sel, runs),
				Sort: []any{
					ascending("@timestamp"), optional("fio.direction", "_first"), optional("host.name", "_first"),
					optional("fio.job", "_first"), ascending("run.id"), optional("part", 0),
				},
			},
			reopen: func(ctx context.Context) (string, error) {
				id, _, err := e.settle(ctx, &sel, runs)
				return id, err
			},
		}
		if sel.Light {
			s.request.Source = excludes("latency.histogram")
		}
		for d, err := range s.documents(ctx, e.limits.ahead) {
			if err == nil {
				if run, ok := runs[d.Run.ID]; !ok || run.ingest != d.Run.Ingest {
					continue // the query has runs and versions as two lists, so it also finds other pairs
				}
			}
			if !yield(d, e.fail(ctx, "read", err)) {
				return
			}
		}
	}
}

func intervalQuery(sel *history.Selection, runs map[string]finished) any {
	queries := between(sel.From, sel.To)
	for _, f := range []struct {
		field  string
		values []string
	}{{"fio.direction", sel.Directions}, {"host.name", sel.Hosts}, {"fio.job", sel.Jobs}} {
		if len(f.values) > 0 {
			queries = append(queries, oneOf(f.field, f.values))
		}
	}
	ids, ingests := slices.Sorted(maps.Keys(runs)), []string(nil)
	for _, r := range runs {
		ingests = append(ingests, r.ingest)
	}
	slices.Sort(ingests)
	ingests = slices.Compact(ingests)
	for field, values := range map[string][]string{"run.id": ids, "run.ingest": ingests} {
		if len(values) <= mostTerms {
			queries = append(queries, es.Terms(field, values))
		}
	}
	return es.All(queries...)
}

// finished identifies one state of a finished run's document.
type finished struct {
	ingest string
	state
}

// settle opens a point in time of the documents of a level. It returns its id and the versions of the selected runs
// that are complete in it. The id is empty if there are no documents. If runs is not nil, settle must find the same
// versions, and otherwise fails with [history.ErrReplaced].
//
// All interval documents of a version are visible before its run document is, and they are removed only after
// another version is visible. So if the run document is the same before and after the point in time was opened, the
// point in time has all documents.
func (e *Store) settle(ctx context.Context, sel *history.Selection, runs map[string]finished) (string, map[string]finished, error) {
	for try := range e.limits.settle {
		before, err := e.finished(ctx, sel.Runs)
		if err != nil || len(before) == 0 && runs == nil || sel.Level > mapping.Job {
			return "", nil, err
		}
		if runs != nil {
			before = runs
		}
		id, err := e.openPIT(ctx, e.level(sel.Level))
		if err != nil {
			if errors.Is(err, history.ErrNoIndex) && runs == nil {
				err = nil // no run has documents of this level
			}
			return "", nil, err
		}
		after, err := e.finished(ctx, sel.Runs)
		if err == nil && isWithin(before, after) {
			return id, before, nil
		}
		e.closePIT(ctx, id)
		if err == nil && runs != nil {
			err = fmt.Errorf("runs changed while they were read: %w", history.ErrReplaced)
		}
		if err == nil {
			err = e.client.Pause(ctx, try/4)
		}
		if err != nil {
			return "", nil, err
		}
	}
	return "", nil, fmt.Errorf("runs changed during each attempt to read them: %w", history.ErrBusy)
}

// isWithin reports whether b has all runs of a in the same state.
func isWithin(a, b map[string]finished) bool {
	for id, run := range a {
		if b[id] != run {
			return false
		}
	}
	return true
}

// Versions implements [history.Store]. One request reads hundreds of runs.
func (e *Store) Versions(ctx context.Context, ids []string) (map[string]*mapping.Run, error) {
	all, fields := map[string]*mapping.Run{}, []string{"run.id", "run.ingest", "run.labels", "run.edited", "run.note", "run.compacted", "documents"}
	return all, e.fail(ctx, "read", chunked(ids, func(some []string) error {
		for h, err := range e.runDocs(ctx, "find versions of runs", es.Terms("run.id", some), 500, fields) {
			if err != nil {
				return err
			}
			run, damaged := h.Source.result()
			if damaged != nil {
				run = nil
			}
			all[h.Source.id] = run
		}
		return nil
	}))
}

// finished returns the finished runs with these ids, or all finished runs if there are no ids.
func (e *Store) finished(ctx context.Context, ids []string) (map[string]finished, error) {
	out := map[string]finished{}
	add := func(query any) error {
		for h, err := range e.runDocs(ctx, "find versions of runs", query, e.limits.pageHits, []string{"run.id", "run.ingest"}) {
			if err != nil {
				return err
			}
			run, err := h.Source.result()
			if err != nil {
				return err
			}
			out[run.Run.ID] = finished{run.Run.Ingest, state{h.Seq, h.Term}}
		}
		return nil
	}
	if len(ids) == 0 {
		return out, add(isRun())
	}
	for some := range slices.Chunk(ids, mostTerms) {
		if err := add(es.Terms("run.id", some)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// bins are the fields of a run document that contain histograms, and the packed field for lists.
var bins = []string{mapping.LightField, "all.latency.histogram", "read.latency.histogram", "write.latency.histogram", "trim.latency.histogram"}

// hashed finds documents whose list of files has one of these hashes, as in [mapping.Source.Hashes].
func hashed(list string, hashes []string) any {
	return es.Any(es.Terms(list+".hash", hashes), es.Terms(list+".begin", hashes))
}

// Holding implements [history.Store], usually with one request for each list.
func (e *Store) Holding(ctx context.Context, files, logs []string) ([]*mapping.Run, error) {
	found := map[string]*mapping.Run{}
	read := func(query any) error {
		for h, err := range e.runDocs(ctx, "find runs by their files", query, 500, excludes(bins...)) {
			if err != nil {
				return err
			}
			if run, damaged := h.Source.result(); damaged == nil {
				found[run.Run.ID] = run.WithFiles()
			}
		}
		return nil
	}
	err := chunked(files, func(some []string) error { return read(hashed("source.list", some)) })
	if err == nil {
		hasReport := es.Term("source.list.role", mapping.RoleReport)
		err = chunked(logs, func(some []string) error { return read(es.All(hashed("source.list", some), es.None(hasReport))) })
	}
	return sortedByID(found), e.fail(ctx, "read", err)
}

func sortedByID[V any](found map[string]V) (all []V) {
	for _, id := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[id])
	}
	return all
}

// Removed implements [history.Store].
func (e *Store) Removed(ctx context.Context, hashes []string) ([]*mapping.Removed, error) {
	found := map[string]*mapping.Removed{}
	err := chunked(hashes, func(some []string) error {
		s := scan[struct{ Removed *mapping.Removed }]{e: e, verb: "find removed runs", index: e.runs(), request: request{
			Size: min(500, e.limits.pageHits), Query: hashed(mapping.RemovedField+".source.list", some), Sort: []any{optionalField(removedID)},
		}}
		for hits, err := range s.pages(ctx) {
			if err != nil {
				return err
			}
			for _, h := range hits {
				if h.Source != nil && h.Source.Removed != nil {
					found[h.Source.Removed.ID] = h.Source.Removed
				}
			}
		}
		return nil
	})
	return sortedByID(found), e.fail(ctx, "read", err)
}
