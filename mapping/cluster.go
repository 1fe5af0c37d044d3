package mapping

import (
	"bytes"
	"fmt"
	"slices"
)

// PendingField is true in an interval document of a version that is not current yet, because the version that it
// replaces still exists. Dashboards skip such documents, so each run counts once in sums. The field is removed when the
// old version is deleted.
const PendingField = "run.pending"

// ShowPending is a painless script that removes the field from a document.
const ShowPending = "ctx._source.run.remove('pending')"

// MarkPending adds the field to the document that begins at b[from], as AppendJSON wrote it. It fails for any other
// text.
func MarkPending(b []byte, from int) ([]byte, error) {
	const before = `"run":{` // comes before all texts that users choose
	at := bytes.Index(b[from:], []byte(before))
	if at < 0 {
		return b, fmt.Errorf("mark document as pending: no %s: %w", before, ErrIdentity)
	}
	return slices.Insert(b, from+at+len(before), []byte(`"pending":true,`)...), nil
}

// MarkChanges is a painless script. It replaces the changes in the documents of runs. The parameter "changes" has the
// new ones by run.id.
const MarkChanges = `def list = params.changes[ctx._source.run.id]; ` +
	`if (list.isEmpty()) { ctx._source.remove('changes') } else { ctx._source.changes = list }`
