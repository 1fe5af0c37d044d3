package estest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bulk stores documents of index actions. Like a real server, it skips a last action without a document, silently.
func (s *Server) bulk(r *http.Request, body []byte, f Fault) (any, error) {
	s.mu.Lock()
	s.now++
	s.top = max(s.top, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	if s.ByteTime > 0 {
		s.turn <- struct{}{}
		wait(r, time.Duration(len(body))*s.ByteTime)
		<-s.turn
	}
	if f.Kind == Slow { // wait outside the lock, so that several requests overlap
		wait(r, f.Wait/2)
	}
	if len(body) == 0 {
		return nil, no(http.StatusBadRequest, "parse_exception", "request body is required")
	}
	if body[len(body)-1] != '\n' {
		return nil, no(http.StatusBadRequest, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]")
	}
	lines := bytes.Split(body[:len(body)-1], []byte{'\n'})
	items, failed := []any{}, false
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; i+1 < len(lines); i += 2 {
		type target struct {
			Index string `json:"_index"`
			ID    string `json:"_id"`
			Seq   *int64 `json:"if_seq_no"`
			Term  int64  `json:"if_primary_term"`
		}
		var action struct{ Index, Create *target }
		if err := strict(lines[i], &action); err != nil {
			return nil, err
		}
		at, name, conditions := action.Index, "index", url.Values{}
		if action.Create != nil {
			at, name, conditions = action.Create, "create", url.Values{"op_type": {"create"}}
		}
		if at.Seq != nil {
			conditions = url.Values{"if_seq_no": {strconv.FormatInt(*at.Seq, 10)}, "if_primary_term": {strconv.FormatInt(at.Term, 10)}}
		}
		for _, item := range s.item(i/2, at.Index, at.ID, conditions, lines[i+1], f) {
			failed = failed || item["error"] != nil
			items = append(items, map[string]any{name: item})
		}
	}
	if len(items) == 0 && f.Kind != ItemsLost && f.Kind != ItemsHidden {
		return nil, no(http.StatusBadRequest, "action_request_validation_exception", "Validation Failed: 1: no requests added;")
	}
	if f.Kind == Unordered {
		slices.Reverse(items)
	}
	return filter(r, map[string]any{"took": 1, "errors": failed, "items": items}), nil
}

// item returns the items of one document: one, or as many as the fault wants.
func (s *Server) item(i int, index, id string, conditions url.Values, source []byte, f Fault) []map[string]any {
	kind := None
	if f.chooses(i) {
		kind = f.Kind
	}
	refused := func(status int, kind, reason string) []map[string]any {
		return []map[string]any{{
			"_index": index, "_id": id, "status": status,
			"error": map[string]any{"type": kind, "reason": reason},
		}}
	}
	switch kind {
	case ItemsRejected:
		return refused(http.StatusTooManyRequests, "es_rejected_execution_exception", "rejected execution of primary operation [coordinating_and_primary_bytes=0]")
	case ItemsFlood:
		return refused(http.StatusTooManyRequests, "cluster_block_exception", "index ["+index+"] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];")
	case ItemsBlocked:
		return refused(http.StatusForbidden, "cluster_block_exception", "index ["+index+"] blocked by: [FORBIDDEN/8/index write (api)];")
	case ItemsUnavailable:
		return refused(http.StatusServiceUnavailable, "unavailable_shards_exception", "["+index+"][0] primary shard is not active Timeout: [1m]")
	case ItemsClosed:
		return refused(http.StatusBadRequest, "index_closed_exception", "closed")
	case ItemsMissing:
		return refused(http.StatusNotFound, "index_not_found_exception", "no such index ["+index+"]")
	case ItemsBroken:
		return refused(http.StatusInternalServerError, "null_pointer_exception", "Cannot invoke \"Object.toString()\"")
	case ItemsRefused:
		return refused(http.StatusBadRequest, "mapper_parsing_exception", "failed to parse field [latency.histogram] of type [histogram]")
	case ItemsLost:
		return nil
	}
	if s.Refuse != nil {
		if reason := s.Refuse(index, id, source); reason != "" {
			return refused(http.StatusBadRequest, "mapper_parsing_exception", reason)
		}
	}
	answer, err := s.putIf(index, id, conditions, source)
	var conflict *refusal
	if errors.As(err, &conflict) && conflict.status == http.StatusConflict {
		return refused(conflict.status, "version_conflict_engine_exception", "["+id+"]: version conflict")
	}
	if err != nil {
		return refused(http.StatusBadRequest, "mapper_parsing_exception", "failed to parse")
	}
	stored := answer.(map[string]any)
	switch kind {
	case ItemsHidden:
		return nil
	case ItemsTwice:
		return []map[string]any{stored, stored}
	}
	return []map[string]any{stored}
}

// filter returns the parts of an answer that filter_path names. It knows only the paths that fio2es uses.
func filter(r *http.Request, answer map[string]any) any {
	want := r.URL.Query().Get("filter_path")
	if want == "" {
		return answer
	}
	paths := strings.Split(want, ",")
	kept := map[string]any{}
	for key, value := range answer {
		if slices.Contains(paths, key) {
			kept[key] = value
		}
	}
	var items []any
	for _, action := range answer["items"].([]any) {
		for name, fields := range action.(map[string]any) {
			some := map[string]any{}
			for key, value := range fields.(map[string]any) {
				if slices.Contains(paths, fmt.Sprintf("items.*.%s", key)) {
					some[key] = value
				}
			}
			if len(some) > 0 {
				items = append(items, map[string]any{name: some})
			}
		}
	}
	if len(items) > 0 {
		kept["items"] = items
	}
	return kept
}
