package elastic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrBulkAnswer is an answer to a bulk request that has not one item for each document
// that was sent. Elasticsearch says nothing of it, not even errors:true.
var ErrBulkAnswer = errors.New("bulk answer does not account for each document")

// BulkItem is what became of one document.
type BulkItem struct {
	Status int    // of HTTP, as if the document had been sent alone
	Type   string // of the error; empty when there is none
	Reason string
}

// OK tells whether the document is stored.
func (i BulkItem) OK() bool { return i.Status >= 200 && i.Status < 300 && i.Type == "" }

// Temporary tells whether sending the document again, as it is, may succeed.
func (i BulkItem) Temporary() bool { return i.Error().isTemporary() }

// Error is the item's error as one of its own.
func (i BulkItem) Error() *Error { return &Error{Status: i.Status, Type: i.Type, Reason: i.Reason} }

// bulkItem is an item in JSON, under the name of its action.
type bulkItem struct {
	ID     string `json:"_id"`
	Status int    `json:"status"`
	Error  *struct {
		Type, Reason string
		CausedBy     struct{ Reason string } `json:"caused_by"`
	} `json:"error"`
}

// ReadBulk reads the answer to a bulk request. ids are those of the documents that were
// sent; items are matched by position, and by id where others have been left out or come
// in another order. It calls each as [Client.Bulk] says, also for the items before an
// error.
func ReadBulk(r io.Reader, ids []string, each func(position int, item BulkItem)) error {
	text, ok := answers.Get().(*bytes.Buffer)
	if !ok {
		text = new(bytes.Buffer)
	}
	defer func() {
		if text.Cap() <= keepAnswer {
			answers.Put(text)
		}
	}()
	text.Reset()
	_, cut := text.ReadFrom(r) // what came before that is as good
	stored, whole := readAllStored(text.Bytes(), ids, each)
	if whole {
		return nil
	}
	return readRest(text.Bytes(), cut, stored, ids, each)
}

// answers are buffers for reuse: an answer has some hundred kilobytes.
var answers sync.Pool // of *bytes.Buffer

// keepAnswer is the size of the largest buffer that is kept.
const keepAnswer = 4 << 20

// readAllStored reads what nearly all answers are, the items of all documents in their
// order, each of them stored, without looking at anything twice. It stops at the first
// item that is something else, and tells how many were not, and whether all is read.
func readAllStored(text []byte, ids []string, each func(position int, item BulkItem)) (stored int, whole bool) {
	const (
		begin  = `{"errors":false,"items":[`
		id     = `{"index":{"_id":"`
		status = `","status":20x}}`
	)
	rest, ok := bytes.CutPrefix(text, []byte(begin))
	if !ok {
		return 0, false
	}
	for i, want := range ids {
		size := len(id) + len(want) + len(status)
		if len(rest) <= size {
			return i, false
		}
		item := rest[:size]
		tail := item[len(id)+len(want):]
		digit := tail[len(status)-3]
		if string(item[:len(id)]) != id || string(item[len(id):len(id)+len(want)]) != want ||
			string(tail[:len(status)-3]) != status[:len(status)-3] || string(tail[len(status)-2:]) != "}}" ||
			digit != '0' && digit != '1' {
			return i, false
		}
		last := i == len(ids)-1
		if rest = rest[size:]; last {
			whole = string(rest) == "]}"
		} else if rest[0] != ',' {
			return i, false
		}
		each(i, BulkItem{Status: 200 + int(digit-'0')})
		rest = rest[1:]
	}
	return len(ids), whole
}

// readRest reads any answer, of which the first items were read already, and which ended
// with cut, if that is not nil.
func readRest(text []byte, cut error, before int, ids []string, each func(position int, item BulkItem)) error {
	m := matcher{ids: ids, seen: make([]bool, len(ids))}
	if cut == nil {
		cut = io.EOF
	}
	err := readItems(json.NewDecoder(io.MultiReader(bytes.NewReader(text), failing{cut})), func(id []byte, item BulkItem) {
		if item.Status == 0 {
			m.unknown++
		} else if at, ok := m.match(id); ok && m.matched > before {
			each(at, item)
		}
	})
	switch {
	case err != nil:
		return fmt.Errorf("read bulk answer, %d of %d items: %w", m.matched, len(ids), err)
	case m.matched != len(ids) || m.unknown > 0:
		return fmt.Errorf("%w: %d sent, %d answered, %d items of no document", ErrBulkAnswer, len(ids), m.matched, m.unknown)
	}
	return nil
}

// failing is a reader that has nothing.
type failing struct{ err error }

// Read implements [io.Reader].
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// readItems finds the array "items" in an object and gives its elements.
func readItems(d *json.Decoder, item func(id []byte, item BulkItem)) error {
	return ReadObject(d, func(name string) error {
		if name != "items" {
			return Skip(d)
		}
		var text json.RawMessage
		return ReadArray(d, func() error {
			if err := d.Decode(&text); err != nil {
				return syntax(err)
			}
			return readItem(text, item)
		})
	})
}

// readItem reads {"index":{"_id":…,"status":…,"error":…}}.
func readItem(text []byte, item func(id []byte, item BulkItem)) error {
	if id, status, ok := readStored(text); ok {
		item(id, BulkItem{Status: status})
		return nil
	}
	var actions map[string]bulkItem
	if err := json.Unmarshal(text, &actions); err != nil {
		return syntax(err)
	}
	for _, it := range actions { // there is one
		read := BulkItem{Status: it.Status}
		if it.Error != nil {
			read.Type, read.Reason = it.Error.Type, it.Error.Reason
			if cause := it.Error.CausedBy.Reason; cause != "" {
				read.Reason += ": " + cause
			}
		}
		item([]byte(it.ID), read)
	}
	return nil
}

// readStored reads what nearly all items are, {"index":{"_id":"…","status":201}}, many
// times faster; it leaves all others.
func readStored(text []byte) (id []byte, status int, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"index":{"_id":"`))
	if !ok {
		return nil, 0, false
	}
	id, rest, ok = bytes.Cut(rest, []byte{'"'})
	if !ok || bytes.IndexByte(id, '\\') >= 0 {
		return nil, 0, false
	}
	switch string(rest) {
	case `,"status":200}}`:
		return id, 200, true
	case `,"status":201}}`:
		return id, 201, true
	}
	return nil, 0, false
}

func delim(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err != nil {
		return syntax(err)
	}
	if got != want {
		return fmt.Errorf("%w: %v instead of %v", ErrAnswer, got, want)
	}
	return nil
}

// syntax tells text that is wrong, which will stay so, from text that was cut off.
func syntax(err error) error {
	var wrong *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case errors.As(err, &kind), errors.As(err, &wrong):
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return err
}

// matcher finds the document that an item is of.
type matcher struct {
	ids     []string
	seen    []bool
	next    int // position of the item after the last one, if all is in order
	matched int
	unknown int
	byID    map[string][]int // made when something is out of order
}

func (m *matcher) match(id []byte) (int, bool) {
	if at := m.next; at < len(m.ids) && !m.seen[at] && (m.ids[at] == string(id) || len(id) == 0) {
		return m.take(at), true
	}
	if m.byID == nil {
		m.byID = make(map[string][]int, len(m.ids))
		for i, id := range m.ids {
			m.byID[id] = append(m.byID[id], i)
		}
	}
	for _, at := range m.byID[string(id)] {
		if !m.seen[at] {
			return m.take(at), true
		}
	}
	m.unknown++
	return 0, false
}

func (m *matcher) take(at int) int {
	m.seen[at], m.next = true, at+1
	m.matched++
	return at
}
