package elastic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
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

// ReadRejects reads a reject file. A damaged line yields an error with its line number, and reading continues. The
// last line is damaged if the process was killed while writing it. An error of r ends reading.
func ReadRejects(r io.Reader) iter.Seq2[Reject, error] {
	return func(yield func(Reject, error) bool) {
		lines := bufio.NewReaderSize(r, 1<<16)
		for number := 1; ; number++ {
			line, end := lines.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 {
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
			if end != nil {
				if !errors.Is(end, io.EOF) {
					yield(Reject{}, fmt.Errorf("read rejects, line %d: %w", number, end))
				}
				return
			}
		}
	}
}

// rejectFile is a reject file. It is created with the first line.
type rejectFile struct {
	path string

	mu   sync.Mutex
	file *os.File
}

// write appends a line for a rejected document. It writes the line with one call and syncs it to the disk. Without a
// path it does nothing.
func (f *rejectFile) write(r rejection) error {
	if f.path == "" {
		return nil
	}
	reason, err := json.Marshal(Reason{Status: r.err.Status, Type: r.err.Type, Reason: r.err.Reason})
	if err != nil {
		return fmt.Errorf("write reject file: %w", err)
	}
	line := fmt.Appendf(nil, `{"reason":%s,"action":%s,"document":%s}`+"\n", reason, r.action(), r.text)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		if f.file, err = os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|os.O_SYNC, 0o644); err != nil {
			return fmt.Errorf("write reject file: %w", err)
		}
	}
	if _, err := f.file.Write(line); err != nil {
		return fmt.Errorf("write reject file: %w", err)
	}
	return nil
}

func (f *rejectFile) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	if err != nil {
		return fmt.Errorf("close reject file: %w", err)
	}
	return nil
}
