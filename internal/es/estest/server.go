package estest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Server is the stand-in. Set its fields before the first request.
type Server struct {
	Version   string         // default "8.6.1"
	MaxBody   int64          // bytes of an unpacked body, above which is 413; default 100 MiB
	MaxWire   int64          // bytes of a body as it is sent, which proxies look at; 0 is no limit
	Templates map[string]int // versions of index templates by name, _meta.version
	ByteTime  time.Duration  // that a bulk request takes for each byte, unpacked, one request after the other
	Mapped    string         // type of the field latency.histogram in all indices; default "histogram"

	// Refuse is why a document is rejected (400 mapper_parsing_exception), or empty.
	Refuse func(index, id string, source []byte) string

	turn     chan struct{} // of bulk requests that take their time: no mutex, for which synctest does not wait
	mu       sync.Mutex
	indices  map[string]*index
	faults   []Fault
	down     time.Time
	requests map[string]int // by the last part of the path
	bytes    int64          // unpacked, of bulk requests
	now, top int            // bulk requests at once
}

// New is an empty server that has the given templates, all of version 1.
func New(templates ...string) *Server {
	s := &Server{Templates: make(map[string]int), indices: make(map[string]*index), requests: make(map[string]int), turn: make(chan struct{}, 1)}
	for _, name := range templates {
		s.Templates[name] = 1
	}
	return s
}

// Requests is how many requests came whose path ends in name, such as "_bulk".
func (s *Server) Requests(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[name]
}

// AtOnce is how many bulk requests there were at the same time, at most.
func (s *Server) AtOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.top
}

// Documents are all documents of an index, by id, visible or not.
func (s *Server) Documents(index string) map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.indices[index]; in != nil {
		return maps.Clone(in.docs)
	}
	return nil
}

// Indices are the names of all indices, sorted.
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
	body, status := s.body(r)
	if status == http.StatusRequestEntityTooLarge {
		s.refuse(w, r, Fault{Kind: TooLarge})
		return
	}
	status, answer := s.route(r, body, fault)
	s.answer(w, r, status, answer, fault)
}

// body unpacks. What is called gzip and is not ends the connection, as a real one does.
func (s *Server) body(r *http.Request) (body []byte, status int) {
	limit := s.MaxBody
	if limit == 0 {
		limit = 100 << 20
	}
	wire, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if s.MaxWire > 0 && int64(len(wire)) > s.MaxWire {
		return nil, http.StatusRequestEntityTooLarge
	}
	reader := io.Reader(bytes.NewReader(wire))
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(reader)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		reader = z
	}
	body, err = io.ReadAll(io.LimitReader(reader, limit+1))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if int64(len(body)) > limit {
		return nil, http.StatusRequestEntityTooLarge
	}
	return body, http.StatusOK
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, status int, answer any, f Fault) {
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err) // a mistake in this package
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

// route finds who answers.
func (s *Server) route(r *http.Request, body []byte, f Fault) (int, any) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := path[len(path)-1]
	switch {
	case r.URL.Path == "/":
		return http.StatusOK, s.info()
	case last == "_bulk":
		return s.bulk(r, body, f)
	case path[0] == "_index_template" && len(path) == 2:
		return s.templates(path[1])
	case last == "_refresh":
		return s.refresh(path[0], r)
	case last == "_count":
		return s.count(path[0], r, body)
	case last == "_search":
		return s.search(path[0], r, body)
	case last == "_delete_by_query":
		return s.byQuery(path[0], r, body, func(in *index, id string) { delete(in.docs, id) })
	case last == "_update_by_query":
		return s.updateByQuery(path[0], r, body)
	case len(path) == 4 && path[1] == "_mapping":
		return s.fieldMapping(path[0], path[3])
	case len(path) == 3 && path[1] == "_doc" && r.Method == http.MethodPut:
		return s.putDocument(path[0], path[2], body, r)
	case len(path) == 1 && r.Method == http.MethodPut:
		return s.create(path[0])
	}
	return http.StatusMethodNotAllowed, map[string]any{
		"error":  fmt.Sprintf("Incorrect HTTP method for uri [%s] and method [%s], allowed: [GET]", r.URL.Path, r.Method),
		"status": http.StatusMethodNotAllowed,
	}
}

func (s *Server) info() any {
	version := s.Version
	if version == "" {
		version = "8.6.1"
	}
	return map[string]any{
		"name": "node-1", "cluster_name": "elastictest", "cluster_uuid": "tbbUtstHRMSfzTOpXd7ZTg",
		"version": map[string]any{
			"number": version, "build_flavor": "default", "build_type": "tar", "build_snapshot": false,
			"build_hash": "180c9830da956993e59e2cd70eb32b5e383ea42c", "build_date": "2023-01-24T21:35:11.506992272Z",
			"lucene_version": "9.4.2", "minimum_wire_compatibility_version": "7.17.0", "minimum_index_compatibility_version": "7.0.0",
		},
		"tagline": "You Know, for Search",
	}
}

func (s *Server) templates(pattern string) (int, any) {
	found := []any{}
	for _, name := range slices.Sorted(maps.Keys(s.Templates)) {
		if matches(pattern, name) {
			found = append(found, map[string]any{"name": name, "index_template": map[string]any{
				"index_patterns": []string{name + "-*"}, "composed_of": []string{}, "priority": 200,
				"_meta": map[string]any{"managed_by": "fio2es", "version": s.Templates[name]},
			}})
		}
	}
	switch {
	case len(found) > 0:
		return http.StatusOK, map[string]any{"index_templates": found}
	case strings.Contains(pattern, "*"):
		return http.StatusNotFound, map[string]any{"index_templates": found}
	}
	return http.StatusNotFound, failure(http.StatusNotFound, "resource_not_found_exception", "index template matching ["+pattern+"] not found")
}

// failure is the body of an error.
func failure(status int, kind, reason string) map[string]any {
	cause := map[string]any{"type": kind, "reason": reason}
	return map[string]any{
		"error":  map[string]any{"root_cause": []any{cause}, "type": kind, "reason": reason},
		"status": status,
	}
}

func fail(w http.ResponseWriter, status int, kind, reason string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(failure(status, kind, reason))
}

func writePage(w http.ResponseWriter, status int) {
	w.Header().Del("X-Elastic-Product")
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, page, fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
