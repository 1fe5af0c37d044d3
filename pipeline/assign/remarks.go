package assign

import "fmt"

// Remarks are what is said of evidence: what is missing, and what users should know.
type Remarks struct {
	Skipped []error // what is missing in the result, also in totals
	Lacking []error // what is missing in windows alone, because a report has the totals
	Notes   []error // what else the user should know
}

// Skip adds what is missing in the result.
func (r *Remarks) Skip(format string, args ...any) {
	r.Skipped = append(r.Skipped, fmt.Errorf(format, args...))
}

// Lack adds what is missing in windows alone.
func (r *Remarks) Lack(format string, args ...any) {
	r.Lacking = append(r.Lacking, fmt.Errorf(format, args...))
}

// Note adds what else the user should know.
func (r *Remarks) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Errorf(format, args...))
}

// Add adds other remarks.
func (r *Remarks) Add(o *Remarks) {
	r.Skipped, r.Lacking, r.Notes = append(r.Skipped, o.Skipped...), append(r.Lacking, o.Lacking...), append(r.Notes, o.Notes...)
}

// lack is Lack for a job that has an entry of a report, and else Skip.
func (r *Remarks) lack(j *Job, format string, args ...any) {
	if j.Entry == nil {
		r.Skip(format, args...)
		return
	}
	r.Lack(format, args...)
}
