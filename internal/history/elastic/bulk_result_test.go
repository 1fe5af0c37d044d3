package elastic

import (
	"errors"
	"slices"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
)

// TestResult: how three documents of a request are sorted.
func TestResult(t *testing.T) {
	ok, busy := es.Error{Status: 201}, es.Error{Status: 429, Type: es.RejectedType}
	wrong, blocked := es.Error{Status: 400, Type: "x"}, es.Error{Status: 403, Type: es.BlockType}
	broken, full := es.Error{Status: 500, Type: "x"}, es.Error{Status: 429, Type: es.BlockType}
	var unknown es.Error
	nothing := []es.Error{unknown, unknown, unknown}
	for name, c := range map[string]struct {
		items         []es.Error
		err           error
		stored, again int
		tooLarge      bool
		refused, ends bool // a document, all of them
	}{
		"all stored":     {items: []es.Error{ok, ok, ok}, stored: 3},
		"some refused":   {items: []es.Error{ok, wrong, ok}, stored: 2, refused: true},
		"overload":       {items: []es.Error{ok, busy, busy}, stored: 1, again: 2},
		"full disk":      {items: []es.Error{full, full, full}, again: 3},
		"broken shard":   {items: []es.Error{ok, broken, ok}, stored: 2, again: 1},
		"block":          {items: []es.Error{ok, blocked, ok}, stored: 2, refused: true},
		"missing":        {items: []es.Error{ok, unknown, ok}, err: errBulkAnswer, stored: 2, again: 1},
		"lost":           {items: nothing, err: es.ErrTimeout, again: 3},
		"request, busy":  {items: nothing, err: &es.Error{Status: 429, Type: es.RejectedType}, again: 3},
		"request, large": {items: nothing, err: &es.Error{Status: 413}, again: 3, tooLarge: true},
		"one, large":     {items: nothing[:1], err: &es.Error{Status: 413}, again: 1, refused: true},
		"bad request":    {items: nothing, err: &es.Error{Status: 400, Type: "action_request_validation_exception"}, again: 3, ends: true},
		"there already":  {items: []es.Error{ok, {Status: 409, Type: "version_conflict_engine_exception"}, ok}, stored: 3},
		"no access":      {items: nothing, err: &es.Error{Status: 401}, again: 3, ends: true},
		"other":          {items: nothing, err: &es.Error{Status: 405}, again: 3, ends: true},
	} {
		three := []*document{{}, {}, {}}
		r := newResult(three[:len(c.items)], slices.Clone(c.items), c.err)
		if len(r.stored) != c.stored || len(r.again) != c.again || (len(r.rejected) == 1 && r.rejected[0].err != nil) != c.refused ||
			r.tooLarge != c.tooLarge || (r.err != nil) != c.ends {
			t.Errorf("%s: %+v", name, r)
		}
		if c.again > 0 && r.cause == nil && !c.ends {
			t.Errorf("%s: no cause", name)
		}
	}
	if r := newResult([]*document{{broken: 4}}, []es.Error{broken}, nil); len(r.rejected) != 1 || !errors.Is(r.rejected[0].err, history.ErrRejected) {
		t.Errorf("broken for the fifth time: %+v", r)
	}
	if r := newResult([]*document{{}}, []es.Error{blocked}, nil); len(r.rejected) != 1 || !errors.Is(r.rejected[0].err, ErrBlocked) {
		t.Errorf("blocked: %+v", r)
	}
	if r := newResult([]*document{{}}, nothing[:1], &es.Error{Status: 403, Type: "security_exception"}); !errors.Is(r.err, ErrPrivileges) {
		t.Errorf("no privilege: %v", r.err)
	}
}
