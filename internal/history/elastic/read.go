package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/pack"
	"github.com/fio2es/fio2es/mapping"
)

// Source filters: bins are the histograms of a run document, which lists do not need, nor the list of files.
var (
	bins = func() (fields []string) {
		for _, object := range append(mapping.Directions[:], mapping.AllDirections, "sections.*") {
			fields = append(fields, object+"."+mapping.HistogramField)
		}
		return fields
	}()
	heavy = append([]string{mapping.FilesField, mapping.SummaryField}, bins...)
)

// runDocs returns the run documents that a query finds, sorted by id, without some fields. The first page has size
// documents.
func (e *Store) runDocs(ctx context.Context, verb string, query any, size int, fields ...string) iter.Seq2[*hit, error] {
	r := request{Size: size, Query: es.All(query), Sort: []any{ascending(mapping.RunField)}, State: true}
	if len(fields) > 0 {
		r.Source = without(fields...)
	}
	return e.hits(ctx, verb, e.runs(), r)
}

// heads yields the run documents with these ids, or all without ids, without their heavy fields.
func (e *Store) heads(ctx context.Context, ids []string) iter.Seq2[*hit, error] {
	return func(yield func(*hit, error) bool) {
		queries := []any{isRun()}
		if len(ids) > 0 {
			queries = nil
			for some := range slices.Chunk(ids, mostTerms) {
				queries = append(queries, es.Terms(mapping.RunField, some))
			}
		}
		for _, query := range queries {
			for h, err := range e.runDocs(ctx, "find versions of runs", query, 500, heavy...) {
				if !yield(h, err) {
					return
				}
			}
		}
	}
}

// Run implements [history.Store].
func (e *Store) Run(ctx context.Context, id string) (*mapping.Run, error) {
	var ids []string
	var first hit // an exact id sorts before longer ids that begin with it
	for h, err := range e.runDocs(ctx, "find run", es.Prefix(mapping.RunField, id), 2) {
		if err != nil {
			return nil, e.fail(ctx, "read", err)
		}
		if len(ids) == 0 {
			first = *h
		}
		if ids = append(ids, h.ID); h.ID == id || len(ids) > history.Candidates {
			break
		}
	}
	err := history.CheckOne(id, ids)
	var run *mapping.Run
	if err == nil {
		run, err = first.run()
	}
	return run, e.fail(ctx, "read", err)
}

// Runs implements [history.Store].
func (e *Store) Runs(ctx context.Context, f history.RunFilter) iter.Seq2[*mapping.Run, error] {
	const whole, light = 20, 500 // runs on the first page
	return f.Select(func(yield func(*mapping.Run, error) bool) {
		r := request{
			Size: whole, Query: runQuery(&f), Stable: true,
			Sort: []any{map[string]any{mapping.TimeField: map[string]any{"order": "desc"}}, ascending(mapping.RunField)},
		}
		switch {
		case !f.Light:
			r.Source = without(mapping.SummaryField)
		case slices.Contains(f.Members, "changes"):
			r.Size, r.Source = light, without(heavy...)
		default:
			r.Size, r.Summaries = light, new(pack.ReadingOf(&f))
		}
		if isCertain := f.Text == "" && (f.Where == nil || f.Live()); f.Limit > 0 && isCertain && f.Limit <= r.Size {
			r.Size, r.Stable = f.Limit, false // one page is enough
		}
		if f.InAnyOrder && r.Stable { // sorting takes half of the cluster's time
			r.Sort, r.InPIT = []any{ascending("_shard_doc")}, true
		}
		for h, err := range e.hits(ctx, "list runs", e.runs(), r) {
			var run *mapping.Run
			if err == nil {
				run, err = h.run()
			}
			if (run != nil || err != nil) && !yield(run, e.fail(ctx, "read", err)) {
				return
			}
		}
	})
}

// Intervals implements [history.Store]. It reads from a point in time, so it sees one state of the history even if
// the caller is slow.
func (e *Store) Intervals(ctx context.Context, sel history.Selection) iter.Seq2[*mapping.Interval, error] {
	const first = 200 // documents on the first page
	sel.Level = max(sel.Level, mapping.Cluster)
	return func(yield func(*mapping.Interval, error) bool) {
		point, runs, err := e.settle(ctx, &sel)
		if err != nil {
			yield(nil, e.fail(ctx, "read", err))
		}
		if point == nil {
			return
		}
		r := request{PIT: point, Size: first, Sort: []any{
			ascending(mapping.TimeField), optional(mapping.DirectionField, "_first"), optional(mapping.HostField, "_first"),
			optional(mapping.JobField, "_first"), optional(mapping.SectionField, "_first"), ascending(mapping.RunField), optional(mapping.PartField, 0),
		}}
		if sel.Light {
			r.Source = without(mapping.HistogramField)
		}
		queries := between(mapping.TimeField, sel.From, sel.To)
		for field, values := range map[string][]string{mapping.DirectionField: sel.Directions, mapping.HostField: sel.Hosts} {
			if len(values) > 0 {
				queries = append(queries, oneOf(field, values))
			}
		}
		ids, ingests := slices.Sorted(maps.Keys(runs)), []string(nil)
		for _, r := range runs {
			ingests = append(ingests, r.ingest)
		}
		slices.Sort(ingests)
		for field, values := range map[string][]string{mapping.RunField: ids, mapping.IngestField: slices.Compact(ingests)} {
			if len(values) <= mostTerms {
				queries = append(queries, es.Terms(field, values))
			}
		}
		r.Query = es.All(queries...)
		last := ""
		for h, err := range e.hits(ctx, "read intervals", "", r) {
			var d *mapping.Interval
			if err == nil {
				d, err = h.interval()
			}
			if err == nil && (runs[d.Run.ID].ingest != d.Run.Ingest || h.ID == last) {
				continue // the query has runs and versions as two lists, so it also finds other pairs; an id is there twice while indices change
			}
			if err == nil {
				last = h.ID
			}
			if !yield(d, e.fail(ctx, "read", err)) {
				return
			}
		}
	}
}

// state is the state of a stored document: Elasticsearch's _seq_no and _primary_term.
type state struct {
	seq, term  int64
	hasSummary bool // known if the document was read by its id
}

// finished identifies one state of a finished run's document.
type finished struct {
	ingest string
	state
}

// settle opens a point in time of the documents of a level. It returns it with the versions of the selected runs that
// are complete in it. The point in time is nil if there are no documents.
//
// All interval documents of a version are visible before its run document is, and they are removed only after
// another version is visible. So if the run document is the same before and after the point in time was opened, the
// point in time has all documents.
func (e *Store) settle(ctx context.Context, sel *history.Selection) (point *pit, runs map[string]finished, _ error) {
	err := e.client.Repeat(ctx, func(ctx context.Context) (err error) {
		if runs, err = e.finished(ctx, sel.Runs); err != nil || len(runs) == 0 || sel.Level > mapping.Section {
			return err
		}
		if point, err = e.openPIT(ctx, e.level(sel.Level)); es.IsNotFound(err) {
			return nil // no run has documents of this level
		} else if err != nil {
			return err
		}
		after, err := e.finished(ctx, sel.Runs)
		for id, run := range runs {
			if err == nil && after[id] != run {
				err = es.Again(fmt.Errorf("runs changed during each attempt to read them: %w", history.ErrBusy))
			}
		}
		if err != nil {
			e.closePIT(ctx, point.ID)
			point = nil
		}
		return err
	})
	return point, runs, err
}

// finished returns the finished runs with these ids, or all finished runs if there are no ids.
func (e *Store) finished(ctx context.Context, ids []string) (map[string]finished, error) {
	out := map[string]finished{}
	for h, err := range e.heads(ctx, ids) {
		if err != nil {
			return nil, err
		}
		run, err := h.run()
		if err != nil {
			return nil, err
		}
		out[run.Run.ID] = finished{run.Run.Ingest, state{seq: h.Seq, term: h.Term}}
	}
	return out, nil
}

// Versions implements [history.Store]. One request reads hundreds of runs.
func (e *Store) Versions(ctx context.Context, ids []string) (map[string]*mapping.Run, error) {
	all := map[string]*mapping.Run{}
	if len(ids) == 0 {
		return all, nil
	}
	for h, err := range e.heads(ctx, ids) {
		if es.IsNotFound(err) { // there is no index yet
			break
		}
		if err != nil {
			return nil, e.fail(ctx, "read", err)
		}
		all[h.ID], _ = h.run() // nil if it cannot be read
	}
	return all, nil
}

// Whole implements [history.Store].
func (e *Store) Whole(ctx context.Context, ids []string) (map[string]string, error) {
	whole := map[string]string{}
	if len(ids) == 0 {
		return whole, nil // else all runs would be counted
	}
	var counts history.Counts
	var err error
	var counting sync.WaitGroup
	counting.Go(func() { counts, err = e.Count(ctx, ids) })
	versions, err2 := e.Versions(ctx, ids)
	counting.Wait()
	for id, run := range versions {
		if run != nil && counts.IsWhole(run) && counts.IsCurrent(run) {
			whole[id] = run.Run.Ingest
		}
	}
	return whole, errors.Join(err, err2)
}

// Holding implements [history.Store], usually with one request.
func (e *Store) Holding(ctx context.Context, files, logs []string) ([]*mapping.Run, error) {
	found := map[string]*mapping.Run{}
	var parts []string // ids of runs
	for len(files)+len(logs) > 0 {
		someFiles, someLogs := files[:min(len(files), mostTerms)], logs[:min(len(logs), mostTerms)]
		files, logs = files[len(someFiles):], logs[len(someLogs):]
		hasReport := es.Term(mapping.FileRoleField, mapping.RoleReport)
		query := es.Any(hashed("", someFiles), es.Terms(mapping.SharedFilesField, someFiles), es.All(hashed("", someLogs), es.None(hasReport)))
		for h, err := range e.runDocs(ctx, "find runs by their files", query, 500, bins...) {
			if es.IsNotFound(err) { // there is no index yet
				break
			}
			if err != nil {
				return nil, e.fail(ctx, "read", err)
			}
			if run, damaged := h.run(); damaged == nil {
				found[run.Run.ID] = run.WithFiles()
			} else if part, err := mapping.ReadPart(h.Source); err == nil {
				parts = append(parts, part.Run)
			}
		}
	}
	if len(parts) > 0 {
		for h, err := range e.heads(ctx, parts) {
			if err != nil {
				return nil, e.fail(ctx, "read", err)
			}
			if run, damaged := h.run(); damaged == nil {
				found[run.Run.ID] = run
			}
		}
	}
	return sortedByID(found), nil
}

func sortedByID[V any](found map[string]V) (all []V) {
	for _, id := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[id])
	}
	return all
}

// Count implements [history.Store]. One request counts a thousand versions.
func (e *Store) Count(ctx context.Context, runs []string, levels ...mapping.Level) (history.Counts, error) {
	var queries []any
	if len(levels) > 0 {
		var names []string
		for _, l := range levels {
			names = append(names, l.String())
		}
		queries = append(queries, es.Terms(mapping.LevelField, names))
	}
	out, chunks := history.Counts{}, slices.Collect(slices.Chunk(runs, mostTerms))
	if len(runs) == 0 {
		chunks = [][]string{nil}
	}
	for _, some := range chunks {
		query := es.All(queries...)
		if len(some) > 0 {
			query = es.All(append(queries, es.Terms(mapping.RunField, some))...)
		}
		if err := e.count(ctx, query, func(b *group) { out.Add(b.of()) }); err != nil {
			return nil, e.fail(ctx, "read", err)
		}
	}
	return out, ctx.Err()
}

// counts counts the visible interval documents of runs that started at these times, in indices of the period of the store. In
// others, it says by run in which: these have documents of an earlier fio2es, or are of a time when a lifecycle did not delete, or did.
func (e *Store) counts(ctx context.Context, starts map[string]time.Time) (in history.Counts, outside map[string][]string, err error) {
	in, outside = history.Counts{}, map[string][]string{}
	other := mapping.Months
	if e.period == other {
		other = mapping.Years
	}
	err = e.count(ctx, es.Terms(mapping.RunField, slices.Sorted(maps.Keys(starts))), func(b *group) {
		run, ingest, level, n, parts, pending := b.of()
		if b.Key.Index != mapping.LatencyIndex(e.prefix, level, other, starts[run]) {
			in.Add(run, ingest, level, n, parts, pending)
		} else if !slices.Contains(outside[run], b.Key.Index) {
			outside[run] = append(outside[run], b.Key.Index)
		}
	})
	return in, outside, err
}

// group is a group of interval documents, and their numbers.
type group struct {
	Key                       struct{ Run, Ingest, Level, Index string }
	Documents, Parts, Pending struct{ Value int }
	level                     mapping.Level
}

// of returns the arguments of [history.Counts.Add].
func (g *group) of() (run, ingest string, level mapping.Level, n, parts, pending int) {
	return g.Key.Run, g.Key.Ingest, g.level, g.Documents.Value - g.Parts.Value, g.Parts.Value, g.Pending.Value
}

// count passes the groups of the visible interval documents that a query finds. Without an index there are none.
//
// It counts values (value_count), because the doc_count of an aggregation would add up the field _doc_count, which is
// the number of requests in a histogram.
func (e *Store) count(ctx context.Context, query any, add func(*group)) error {
	const page = 1000
	terms := func(field string) any { return map[string]any{"terms": map[string]any{"field": field}} }
	values := func(field string) any { return map[string]any{"value_count": map[string]any{"field": field}} }
	groups := map[string]any{"size": page, "sources": []any{
		map[string]any{"run": terms(mapping.RunField)}, map[string]any{"ingest": terms(mapping.IngestField)}, map[string]any{"level": terms(mapping.LevelField)},
		map[string]any{"index": terms("_index")},
	}}
	body := map[string]any{"size": 0, "track_total_hits": false, "query": query, "aggs": map[string]any{"groups": map[string]any{
		// all parts of a split document have a part, except the first
		"composite": groups, "aggs": map[string]any{"documents": values(mapping.RunField), "parts": values(mapping.PartField), "pending": values(mapping.PendingField)},
	}}}
	yes := true
	for {
		var answer struct { // without indices, it has zero shards and no aggregations
			es.Whole
			Aggregations struct {
				Groups struct {
					After   json.RawMessage `json:"after_key"`
					Buckets []group
				}
			}
		}
		err := e.client.Do(ctx, esapi.SearchRequest{
			Index: []string{e.intervals()}, Body: es.JSON(body), IgnoreUnavailable: &yes, AllowNoIndices: &yes, AllowPartialSearchResults: new(bool),
		}, &answer)
		if err != nil {
			return fmt.Errorf("count documents in %s: %w", e.intervals(), err)
		}
		found := answer.Aggregations.Groups
		for i := range found.Buckets {
			b := &found.Buckets[i]
			if b.level, err = mapping.ParseLevel(b.Key.Level); err != nil {
				return fmt.Errorf("count documents: %w", err)
			}
			add(b)
		}
		if len(found.After) == 0 || len(found.Buckets) < page {
			return nil
		}
		groups["after"] = found.After
	}
}
