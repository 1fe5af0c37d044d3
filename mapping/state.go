package mapping

import "slices"

// State returns what is special about a run, in one or two words each. bad reports whether data is missing or a rule is
// broken.
func (r *Run) State() (words []string, bad bool) {
	switch {
	case r.Run.Complete:
	case r.Run.Live():
		words = append(words, "live")
	default:
		words, bad = append(words, "incomplete"), true
	}
	if r.NoWindows != "" {
		words = append(words, "no windows")
	}
	if slices.ContainsFunc(r.SLA, func(v Verdict) bool { return !v.Holds }) {
		words, bad = append(words, "sla broken"), true
	}
	return words, bad
}
