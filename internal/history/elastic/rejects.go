package elastic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
)

// Reject is one line of a reject file: a document that the cluster rejected for good.
type Reject struct {
	Reason   Reason          `json:"reason"`
	Action   json.RawMessage `json:"action"`   // {"index":{"_index":…,"_id":…}} or "create", as in a bulk request
	Document json.RawMessage `json:"document"` // as it was sent: an interval document or a run document
}

// Reason says why a document was rejected.
type Reason struct {
	Status int    `json:"status"` // HTTP status
	Type   string `json:"type,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// ReadRejects reads the text of a reject file. A damaged line yields an error with its line number, and reading
// continues. The last line is damaged if the process was killed while writing it.
func ReadRejects(text []byte) iter.Seq2[Reject, error] {
	return func(yield func(Reject, error) bool) {
		number := 0
		for line := range bytes.Lines(text) {
			if number++; len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			var reject Reject
			err := json.Unmarshal(line, &reject)
			if err == nil && (len(reject.Action) == 0 || len(reject.Document) == 0) {
				err = errors.New("action or document is missing")
			}
			if err != nil {
				reject, err = Reject{}, fmt.Errorf("read rejects, line %d: %w", number, err)
			}
			if !yield(reject, err) {
				return
			}
		}
	}
}

// appendReject appends a line for a rejected document to a reject file, with one call, and syncs it to the disk. Without a
// path it does nothing.
func appendReject(path string, r rejection) error {
	if path == "" {
		return nil
	}
	reason, err := json.Marshal(Reason{Status: r.err.Status, Type: r.err.Type, Reason: r.err.Reason})
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|os.O_SYNC, 0o644); err == nil {
			_, err = fmt.Fprintf(f, `{"reason":%s,"action":%s,"document":%s}`+"\n", reason, r.action(), r.text)
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("write reject file: %w", err)
	}
	return nil
}
