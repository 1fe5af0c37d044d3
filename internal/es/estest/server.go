// Package estest is a stand-in for Elasticsearch in the process of a test. It keeps documents, and its answers
// follow recorded answers of Elasticsearch 8.6.1. Tests can make requests fail with [Server.Script]. It is strict:
// an unknown query, parameter or key is an error. As in a real cluster, searches see documents only after a refresh.
// It has no users.
//
// [Server.Start] listens on the loopback interface. [Server.Pipe] makes connections in memory, which
// testing/synctest needs.
package estest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Server is the stand-in. Set its fields before the first request.
type Server struct {
	Version   string         // default "8.6.1"
	MaxBody   int64          // limit of an unpacked body in bytes (413); default 100 MiB
	MaxWire   int64          // limit of a body as it is sent, in bytes, as proxies have it; 0: no limit
	Templates map[string]int // index templates: _meta.version by name
	Months    bool           // _meta.months of index templates
	// time that a bulk request takes for each unpacked byte; bulk requests wait for one another
	ByteTime time.Duration
	Ahead    time.Duration // of its clock
	Alias    string        // name of an alias for an index of somebody else; none by default
	// type of the field latency.histogram in all indices; default "histogram". An object is no field: that is what it
	// becomes in an index without a template
	Mapped string

	// Refuse returns why a document is rejected (400 mapper_parsing_exception), or "" to accept it.
	Refuse func(index, id string, source []byte) string

	// Before is called first with each request. It returns true if it has answered. It may send requests.
	Before func(w http.ResponseWriter, r *http.Request, body []byte) bool

	turn     chan struct{} // serializes bulk requests with ByteTime; not a mutex, because synctest does not wait for one
	mu       sync.Mutex
	indices  map[string]*index
	pits     map[string][]*document // points in time by id: the documents that were visible
	opened   int                    // number of points in time
	seq      int64                  // sequence number of the last write
	faults   []Fault
	down     time.Time
	requests map[string]int // by the last part of the path
}

// New returns an empty server with these templates, all of a version that is new enough for every test.
func New(templates ...string) *Server {
	s := &Server{
		Templates: make(map[string]int), requests: make(map[string]int), turn: make(chan struct{}, 1),
		indices: make(map[string]*index), pits: make(map[string][]*document),
	}
	for _, name := range templates {
		s.Templates[name] = 99
	}
	return s
}

// Copy returns another server with the same templates and documents.
func (s *Server) Copy() *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	other := New()
	other.Templates, other.Months, other.seq = maps.Clone(s.Templates), s.Months, s.seq
	for name, in := range s.indices {
		other.indices[name] = &index{docs: maps.Clone(in.docs), visible: slices.Clone(in.visible)}
	}
	return other
}

// Requests returns the number of requests whose path ends in name, such as "_bulk".
func (s *Server) Requests(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[name]
}

// Documents returns all documents of an index by id, visible or not.
func (s *Server) Documents(index string) map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indices[index] == nil {
		return nil
	}
	all := map[string]json.RawMessage{}
	for id, d := range s.indices[index].docs {
		all[id] = d.source
	}
	return all
}

// Indices returns the names of all indices, sorted.
func (s *Server) Indices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.indices))
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]++
	down := time.Now().Before(s.down)
	s.mu.Unlock()
	if down {
		panic(http.ErrAbortHandler)
	}
	fault := s.takeFault(r.URL.Path)
	w.Header().Set("X-Elastic-Product", "Elasticsearch")
	w.Header().Set("Content-Type", "application/json")
	if s.refuse(w, r, fault) {
		return
	}
	body, isTooLarge := s.body(r)
	if isTooLarge {
		s.refuse(w, r, Fault{Kind: TooLarge})
		return
	}
	if s.Before != nil && s.Before(w, r, body) {
		return
	}
	status, answer := s.reply(r, body, fault)
	s.answer(w, r, status, answer, fault)
}

// reply carries out a request.
func (s *Server) reply(r *http.Request, body []byte, f Fault) (status int, answer any) {
	defer func() {
		if x := recover(); x != nil {
			no, ok := x.(refusal)
			if !ok {
				panic(x)
			}
			status, answer = no.status, no.body
		}
	}()
	return http.StatusOK, s.route(r, body, f)
}

// body reads and unpacks a body. A damaged gzip body ends the connection, as in a real server.
func (s *Server) body(r *http.Request) (body []byte, isTooLarge bool) {
	wire, err := io.ReadAll(r.Body)
	reader := io.Reader(bytes.NewReader(wire))
	if err == nil && r.Header.Get("Content-Encoding") == "gzip" {
		reader, err = gzip.NewReader(reader)
	}
	limit := cmp.Or(s.MaxBody, 100<<20)
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(reader, limit+1))
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return body, int64(len(body)) > limit || s.MaxWire > 0 && int64(len(wire)) > s.MaxWire
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, status int, answer any, f Fault) {
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err) // only a mistake in this package leads here
	}
	switch f.Kind {
	case Slow:
		wait(r, f.Wait)
	case Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case Cut:
		text = text[:len(text)/2]
	case ResetAnswer:
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		w.WriteHeader(status)
		_, _ = w.Write(text[:len(text)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

// known lists the supported parameters of requests, by the last part of the path.
var known = map[string]string{
	"_bulk": "filter_path refresh", "_refresh": "ignore_unavailable allow_no_indices",
	"_pit": "keep_alive allow_no_indices", "_search": "allow_partial_search_results ignore_unavailable allow_no_indices",
	"_delete_by_query": "conflicts refresh max_docs ignore_unavailable allow_no_indices",
	"_update_by_query": "conflicts refresh max_docs ignore_unavailable allow_no_indices",
}

// route calls the function that answers a request.
func (s *Server) route(r *http.Request, body []byte, f Fault) any {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last, params := path[len(path)-1], r.URL.Query()
	if some, ok := known[last]; ok {
		for name := range params {
			if !slices.Contains(strings.Fields(some), name) {
				panic(unknown("request [%s] contains unrecognized parameter: [%s]", r.URL.Path, name))
			}
		}
	}
	if last == "_bulk" {
		return s.bulk(r, body, f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.URL.Path == "/":
		return s.info()
	case path[0] == "_index_template" && len(path) == 2:
		return s.templates(path[1])
	case last == "_refresh":
		names := s.find(path[0], params)
		for _, name := range names {
			s.indices[name].refresh()
		}
		return map[string]any{"_shards": shards(len(names))}
	case last == "_search" && len(path) <= 2:
		return s.search(path[0], params, body)
	case last == "_pit" && r.Method == http.MethodPost:
		return s.openPIT(path[0], params)
	case last == "_pit" && r.Method == http.MethodDelete:
		return s.closePIT(body)
	case last == "_delete_by_query", last == "_update_by_query":
		return s.changeByQuery(path[0], last == "_update_by_query", params, body)
	case len(path) == 4 && path[1] == "_mapping":
		return s.mapped(path[0], path[3])
	case len(path) == 3 && path[1] == "_doc" && r.Method == http.MethodGet:
		return s.get(path[0], path[2])
	case len(path) == 3 && path[1] == "_doc" && r.Method == http.MethodPut:
		return s.putOne(target{Index: path[0], ID: path[2], isNew: params.Get("op_type") == "create"}, params, body)
	case len(path) == 3 && path[1] == "_update" && r.Method == http.MethodPost:
		return s.update(path[0], path[2], body)
	case len(path) == 1 && r.Method == http.MethodPut:
		s.create(path[0])
		return map[string]any{"acknowledged": true, "shards_acknowledged": true, "index": path[0]}
	}
	panic(refusal{http.StatusMethodNotAllowed, map[string]any{
		"error":  fmt.Sprintf("Incorrect HTTP method for uri [%s] and method [%s], allowed: [GET]", r.URL.Path, r.Method),
		"status": http.StatusMethodNotAllowed,
	}})
}

func (s *Server) info() any {
	return map[string]any{
		"name": "node-1", "cluster_name": "elastictest", "cluster_uuid": "tbbUtstHRMSfzTOpXd7ZTg",
		"version": map[string]any{
			"number": cmp.Or(s.Version, "8.6.1"), "build_flavor": "default", "build_type": "tar", "build_snapshot": false,
			"build_hash": "180c9830da956993e59e2cd70eb32b5e383ea42c", "build_date": "2023-01-24T21:35:11.506992272Z",
			"lucene_version": "9.4.2", "minimum_wire_compatibility_version": "7.17.0", "minimum_index_compatibility_version": "7.0.0",
		},
		"tagline": "You Know, for Search",
	}
}

func (s *Server) templates(pattern string) any {
	found := []any{}
	for _, name := range slices.Sorted(maps.Keys(s.Templates)) {
		if ok, _ := path.Match(pattern, name); ok {
			found = append(found, map[string]any{"name": name, "index_template": map[string]any{
				"index_patterns": []string{name + "-*"}, "composed_of": []string{}, "priority": 200,
				"_meta": map[string]any{"managed_by": "fio2es", "version": s.Templates[name], "months": s.Months},
			}})
		}
	}
	answer := map[string]any{"index_templates": found}
	switch {
	case len(found) > 0:
		return answer
	case strings.Contains(pattern, "*"):
		panic(refusal{http.StatusNotFound, answer})
	}
	panic(no(http.StatusNotFound, "resource_not_found_exception", "index template matching ["+pattern+"] not found"))
}

// mapped returns the type of the first field in all matching indices. The index behind an alias has no such field.
func (s *Server) mapped(patterns, fields string) any {
	answer, field := map[string]any{}, strings.Split(fields, ",")[0]
	for pattern := range strings.SplitSeq(patterns, ",") {
		if ok, _ := path.Match(pattern, s.Alias); ok {
			answer["somebody-elses"] = map[string]any{"mappings": map[string]any{}}
		}
	}
	for _, name := range s.find(patterns, url.Values{"ignore_unavailable": {"true"}}) {
		if s.Mapped == "object" {
			answer[name] = map[string]any{"mappings": map[string]any{}}
			continue
		}
		last := map[string]any{field[strings.LastIndexByte(field, '.')+1:]: map[string]any{"type": cmp.Or(s.Mapped, "histogram")}}
		answer[name] = map[string]any{"mappings": map[string]any{field: map[string]any{"full_name": field, "mapping": last}}}
	}
	return answer
}
