package es

import (
	"cmp"
	"errors"
	"fmt"
	"io"
)

// ErrBulkAnswer means that the answer to a bulk request lacks an item result for some document, or has too many.
// Elasticsearch does not report this: "errors" may be false.
var ErrBulkAnswer = errors.New("bulk answer does not account for each document")

// BulkItem is the item result of one document. The zero value means that the result is not known.
type BulkItem struct {
	Status int    // HTTP status, as if the document had been sent alone; 0 is unknown
	Type   string // type of the error; empty without an error
	Reason string
}

// OK reports whether the document is stored.
func (i BulkItem) OK() bool { return i.Status >= 200 && i.Status < 300 && i.Type == "" }

// Temporary reports whether a retry of the document may succeed.
func (i BulkItem) Temporary() bool { return i.Error().isTemporary() }

// Error returns the error of the item.
func (i BulkItem) Error() *Error { return &Error{Status: i.Status, Type: i.Type, Reason: i.Reason} }

// bulkItem is an item in JSON, the value beside the name of its action.
type bulkItem struct {
	ID     string `json:"_id"`
	Status int    `json:"status"`
	Error  *struct {
		Type, Reason string
		CausedBy     struct{ Reason string } `json:"caused_by"`
	} `json:"error"`
}

// readBulk reads the answer to a bulk request into items, one for each of ids. Items have the order of the
// documents. If some are missing, readBulk finds the others by id.
func readBulk(r io.Reader, ids []string, items []BulkItem) error {
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	v, answered, matched := NewValues(r), 0, 0
	item := func() error {
		var action struct{ Index, Create, Update, Delete bulkItem } // exactly one of them is set
		if err := v.Decode(&action); err != nil {
			return syntax(err)
		}
		it := cmp.Or(action.Index, action.Create, action.Update, action.Delete)
		i, ok := answered, true
		if i >= len(ids) || it.ID != "" && it.ID != ids[i] {
			i, ok = at[it.ID]
		}
		if ok && items[i].Status == 0 && it.Status != 0 {
			items[i] = it.item()
			matched++
		}
		answered++
		return nil
	}
	err := v.Object(func(name string) error {
		if name != "items" {
			_, err := v.Take()
			return err
		}
		return v.Array(item)
	})
	switch {
	case err != nil:
		return fmt.Errorf("read bulk answer, %d of %d items: %w", matched, len(ids), err)
	case matched != len(ids) || matched != answered:
		return fmt.Errorf("%w: %d sent, %d answered, %d of them known", ErrBulkAnswer, len(ids), answered, matched)
	}
	return nil
}

func (it *bulkItem) item() BulkItem {
	read := BulkItem{Status: it.Status}
	if it.Error != nil {
		read.Type, read.Reason = it.Error.Type, it.Error.Reason
		if cause := it.Error.CausedBy.Reason; cause != "" {
			read.Reason += ": " + cause
		}
	}
	return read
}

// syntax returns an [ErrAnswer] for an error in the text. A retry would get the same text.
func syntax(err error) error {
	return cmp.Or(AnswerError(err), err)
}
