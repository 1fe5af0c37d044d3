package mapping

import "time"

// FieldTest is a test of a field of run documents, which a cluster can make by itself.
type FieldTest struct {
	Field    string
	Op       string    // "=", "<", "<=", ">" or ">="
	Value    any       // string, bool or float64; nil: the field has a time in [From, To), with any Op
	From, To time.Time // a zero time is no bound
}
