package mapping

import (
	"bytes"
	"fmt"
	"slices"
)

// PendingField is true in an interval document of a version that is not current yet: it
// replaces another one, which is still there. Dashboards leave such documents out, so that
// their sums have each run once. It is no part of a document's content: the field is taken
// out when the version is the only one.
const PendingField = "run.pending"

// ShowPending is a painless script that takes the field out of a document.
const ShowPending = "ctx._source.run.remove('pending')"

// MarkPending puts the field into the document that b has from a position on, as
// AppendJSON or AppendWire wrote it. It fails when that is anything else.
func MarkPending(b []byte, from int) ([]byte, error) {
	const before = `"run":{` // stands before everything that users can choose names for
	at := bytes.Index(b[from:], []byte(before))
	if at < 0 {
		return b, fmt.Errorf("mark document as pending: no %s: %w", before, ErrIdentity)
	}
	return slices.Insert(b, from+at+len(before), []byte(`"pending":true,`)...), nil
}
