package fioargs

import "time"

// Span is when a section runs, since fio was started.
type Span struct {
	Stage      int           // how many times fio waited for all jobs to end before (stonewall)
	Start, End time.Duration // of what it measures, after its ramp_time
}

// Spans returns when sections run, of which each measures as long as runs says. fio starts all at once, except that a section
// waits for all before it (stonewall), or for those of a name (wait_for). startdelay counts since fio was started, so behind
// a stonewall it has often passed.
func Spans(sections []*Section, runs []time.Duration) (spans []Span) {
	var stage int
	var begin, end time.Duration // of the stage, and of all sections before
	ends := map[string]time.Duration{}
	for i, s := range sections {
		if s.IsOn("stonewall") && i > 0 {
			stage, begin = stage+1, end
		}
		const most = 365 * 24 * time.Hour // keeps sums in range
		waits, _ := s.Get("wait_for")
		one := Span{Stage: stage, Start: max(begin, min(s.Time("startdelay"), most), ends[waits.Value]) + min(s.Time("ramp_time"), most)}
		one.End = one.Start + min(runs[i], most)
		ends[s.Name], end = max(ends[s.Name], one.End), max(end, one.End)
		spans = append(spans, one)
	}
	return spans
}
