package elastic

// Body returns the present limit of a body, in bytes.
func (e *Store) Body() int {
	e.writer.mu.Lock()
	defer e.writer.mu.Unlock()
	return e.writer.limit
}

// ReadBulk reads the answer to a bulk request. It fails with ErrBulkAnswer if it does not account for each document.
var (
	ReadBulk      = readBulk
	ErrBulkAnswer = errBulkAnswer
)
