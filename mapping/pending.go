package mapping

import (
	"bytes"
	"fmt"
	"slices"
)

// PendingField is true in an interval document of a version that is not current yet: the version
// that it replaces is still there. Dashboards skip such documents, so that their sums have each
// run once. The field is removed when the version is the only one.
const PendingField = "run.pending"

// ShowPending is a painless script that removes the field from a document.
const ShowPending = "ctx._source.run.remove('pending')"

// MarkPending adds the field to the document that begins at a position of b, as AppendJSON
// wrote it. It fails if there is anything else.
func MarkPending(b []byte, from int) ([]byte, error) {
	const before = `"run":{` // comes before all texts that users can choose
	at := bytes.Index(b[from:], []byte(before))
	if at < 0 {
		return b, fmt.Errorf("mark document as pending: no %s: %w", before, ErrIdentity)
	}
	return slices.Insert(b, from+at+len(before), []byte(`"pending":true,`)...), nil
}
