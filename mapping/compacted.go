package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Compacted describes how a version of a run was made: by joining the windows of another version to longer ones. It is
// zero for a version that was read from files.
type Compacted struct {
	From       string    `json:"from"`        // run.ingest of the version that was read from files
	IntervalMS int64     `json:"interval_ms"` // the length of that version's windows
	At         time.Time `json:"at"`
}

// Reading returns the run.ingest of the version that was read from files: the run's own, or for a compacted run that of
// the version that it was made from. Two versions with the same reading differ in the length of windows only.
func (r *RunInfo) Reading() string {
	if r.Compacted.From != "" {
		return r.Compacted.From
	}
	return r.Ingest
}

// Compact is the document of the version with windows of ms milliseconds, a multiple of the run's.
// Its totals, files and warnings are the same. The documents of its windows are not counted yet. The
// same version gives the same run.ingest, so that an interrupted compaction can be repeated.
func (r *Run) Compact(ms int64, at time.Time) *Run {
	c := *r
	c.Run.Compacted.From, c.Run.Compacted.At = r.Run.Reading(), at.UTC().Truncate(time.Millisecond)
	if r.Run.Compacted.From == "" {
		c.Run.Compacted.IntervalMS = r.IntervalMS
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", r.Run.Ingest, ms))
	c.Run.Ingest = hex.EncodeToString(sum[:8])
	c.IntervalMS, c.Documents = ms, Documents{}
	return &c
}
