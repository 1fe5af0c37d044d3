package bulk

import (
	"errors"
	"io"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
)

// TestResult: how three documents of a request are sorted.
func TestResult(t *testing.T) {
	ok, busy := es.BulkItem{Status: 201}, es.BulkItem{Status: 429, Type: es.RejectedType}
	wrong, blocked := es.BulkItem{Status: 400, Type: "x"}, es.BulkItem{Status: 403, Type: es.BlockType}
	broken, full := es.BulkItem{Status: 500, Type: "x"}, es.BulkItem{Status: 429, Type: es.BlockType}
	var unknown es.BulkItem
	nothing := []es.BulkItem{unknown, unknown, unknown}
	for name, c := range map[string]struct {
		items                             []es.BulkItem
		err                               error
		stored, again, refused            int
		tooMany, tooLarge, split, isFatal bool
	}{
		"all stored":     {items: []es.BulkItem{ok, ok, ok}, stored: 3},
		"some refused":   {items: []es.BulkItem{ok, wrong, ok}, stored: 2, refused: 1},
		"overload":       {items: []es.BulkItem{ok, busy, busy}, stored: 1, again: 2, tooMany: true},
		"full disk":      {items: []es.BulkItem{full, full, full}, again: 3},
		"broken shard":   {items: []es.BulkItem{ok, broken, ok}, stored: 2, again: 1},
		"block":          {items: []es.BulkItem{ok, blocked, ok}, stored: 2, isFatal: true},
		"missing":        {items: []es.BulkItem{ok, unknown, ok}, err: es.ErrBulkAnswer, stored: 2, again: 1},
		"lost":           {items: nothing, err: io.ErrUnexpectedEOF, again: 3},
		"request, busy":  {items: nothing, err: &es.Error{Status: 429, Type: es.RejectedType}, again: 3, tooMany: true},
		"request, large": {items: nothing, err: &es.Error{Status: 413}, again: 3, split: true, tooLarge: true},
		"one, large":     {items: nothing[:1], err: &es.Error{Status: 413}, refused: 1},
		"bad document":   {items: nothing, err: &es.Error{Status: 400, Type: "action_request_validation_exception"}, again: 3, split: true},
		"no access":      {items: nothing, err: &es.Error{Status: 401}, again: 3, isFatal: true},
		"other":          {items: nothing, err: &es.Error{Status: 405}, again: 3, isFatal: true},
	} {
		r := newResult(make([]entry, len(c.items)), c.items, c.err)
		if len(r.stored) != c.stored || len(r.again) != c.again || len(r.rejected) != c.refused ||
			r.tooMany != c.tooMany || r.tooLarge != c.tooLarge || r.split != c.split || (r.fatal != nil) != c.isFatal {
			t.Errorf("%s: %+v", name, r)
		}
		if c.again > 0 && r.cause == nil && !c.isFatal {
			t.Errorf("%s: no cause", name)
		}
	}
	if r := newResult([]entry{{broken: 4}}, []es.BulkItem{broken}, nil); len(r.rejected) != 1 {
		t.Errorf("broken for the fifth time: %+v", r)
	}
	if r := newResult(make([]entry, 1), nothing[:1], &es.Error{Status: 403, Type: "security_exception"}); !errors.Is(r.fatal, ErrPrivileges) {
		t.Errorf("no privilege: %v", r.fatal)
	}
}
