package es

import (
	"errors"
	"fmt"
)

// ErrAnswer means that an answer has status 200 but not the expected contents.
var ErrAnswer = errors.New("answer is not the expected JSON; is a proxy in between?")

// ErrIncomplete means that some shards are missing in an answer, so its numbers are wrong.
var ErrIncomplete = errors.New("the cluster answered only in part")

// Answers that are not complete, but another attempt may get a complete one.
var (
	errTimedOut = fmt.Errorf("the search ran out of time: %w", ErrIncomplete) // before all shards had answered
	errEmpty    = errors.New("it is empty")
	errCut      = errors.New("it is cut short")
)

// Whole is the part of a search answer that says whether the answer is complete. The status is 200 even if it is
// not.
type Whole struct {
	TimedOut bool    `json:"timed_out"`
	Shards   *Shards `json:"_shards"`
}

// Shards counts the shards of a search by result.
type Shards struct {
	Total    int `json:"total"`
	Failed   int `json:"failed"`
	Failures []struct {
		Index  string `json:"index"`
		Reason struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
		} `json:"reason"`
	} `json:"failures"`
}

// Err returns [ErrIncomplete] if the search ran out of time, which is [Temporary], or a shard failed, and [ErrAnswer] if
// the answer has no such part.
func (w *Whole) Err() error {
	s := w.Shards
	switch {
	case s == nil:
		return fmt.Errorf("%w: no _shards", ErrAnswer)
	case w.TimedOut:
		return errTimedOut
	case s.Failed == 0 && len(s.Failures) == 0:
		return nil
	}
	text := ""
	if len(s.Failures) > 0 {
		f := s.Failures[0]
		text = fmt.Sprintf(": index %s: %s: %s", f.Index, f.Reason.Type, f.Reason.Reason)
	}
	return fmt.Errorf("%w: %d of %d shards failed%s", ErrIncomplete, s.Failed, s.Total, text)
}
