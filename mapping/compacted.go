package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Compacted describes how compaction made this version of a run: it joined the windows of another version to longer
// ones. It is zero for a version that was read from files.
type Compacted struct {
	From       string    `json:"from"`        // run.ingest of the version that was read from files
	IntervalMS int64     `json:"interval_ms"` // length of that version's windows, in milliseconds
	At         time.Time `json:"at"`
}

// Reading returns the run.ingest of the version that was read from files. For a compacted run this is the version that
// it was made from. Two versions with the same reading differ only in the length of windows.
func (r *RunInfo) Reading() string {
	if r.Compacted.From != "" {
		return r.Compacted.From
	}
	return r.Ingest
}

// Compact returns the run document of the version with windows of ms milliseconds, which is a multiple of the run's.
// Totals, files and warnings stay the same. The number of its interval documents is not set yet. The same version
// always gets the same run.ingest, so an interrupted compaction can be repeated.
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
