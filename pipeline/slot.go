package pipeline

import (
	"path"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// slot is one job by the names of its logs, before it is known what it did.
type slot struct {
	host, volume string
	number       int    // fio's, from 1
	segment      int    // which job of a log of several (per_job_logs=0), from 0; -1 if it has one
	prefix       string // of the histogram log, or of the log of completions
	folder       string
	hist, raw    cbt.Log   // with a nil File where there is none
	entry        *entry    // that covers it; nil if no report does
	sums         *rowSums  // of its rows, where the log is of several jobs; else nil
	hint         hist.Hint // of its bins
	cursor       *histLog
	head         head // of the histogram log
}

// log is the log that stands for the slot in messages.
func (s *slot) log() cbt.Log {
	if s.hist.File != nil {
		return s.hist
	}
	return s.raw
}

// histSlots are the jobs that the histogram logs are of.
func (b *planner) histSlots() []*slot {
	var slots []*slot
	for _, log := range b.run.Logs {
		hint := b.hintFor(log)
		if log.Job > 0 {
			s := newSlot(log)
			s.hist, s.hint = log, hint
			slots = append(slots, s)
			continue
		}
		for i, sums := range segments(log, hint, b.readers) {
			s := newSlot(log)
			s.hist, s.hint, s.sums, s.segment, s.number = log, hint, sums, i, i+1
			slots = append(slots, s)
		}
	}
	return slots
}

// open looks at the first row of the histogram log.
func (s *slot) open(readers *logReaders) {
	s.cursor = openHist(s.hist, s.segment, s.hint, readers)
	s.head = s.cursor.head()
}

// needsRaw reports whether logs of completions may be of use, which takes a look at each:
// they are wanted, or some job has no histogram log with rows.
func (b *planner) needsRaw(slots []*slot) bool {
	if b.opt.Source == SourceRaw || len(slots) == 0 {
		return true
	}
	have := map[slotKey]bool{}
	for _, s := range slots {
		if !s.head.hasRows {
			return true
		}
		have[slotKey{s.host, s.volume, s.number}] = true
	}
	return slices.ContainsFunc(b.run.Others, func(l cbt.Log) bool {
		return l.Kind == fiolog.Clat && !have[slotKey{l.Host, l.Volume, max(l.Job, 1)}]
	})
}

type slotKey struct {
	host, volume string
	number       int
}

// addRaw gives the slots their logs of completions, and adds the jobs that have only those.
func addRaw(slots []*slot, logs []cbt.Log) []*slot {
	for _, log := range logs {
		if s := slotOf(slots, log); s != nil {
			s.raw = log
			continue
		}
		n := 1
		if log.Job == 0 {
			n = rawSegments(log)
		}
		for i := range n {
			s := newSlot(log)
			s.raw = log
			if n > 1 {
				s.segment, s.number = i, i+1
			}
			slots = append(slots, s)
		}
	}
	return slots
}

// rawSegments counts the jobs in a log of completions of several (per_job_logs=0).
func rawSegments(log cbt.Log) int {
	n := 1
	r := openRaw(log, 0, 0)
	defer r.close()
	for {
		e, ok := r.read()
		if !ok {
			return n
		}
		if e.err == nil && e.rec.NewJob {
			n++
		}
	}
}

func newSlot(log cbt.Log) *slot {
	return &slot{
		host: log.Host, volume: log.Volume, number: max(log.Job, 1), segment: -1,
		prefix: log.Prefix, folder: path.Dir(log.File.Path),
	}
}

// slotOf is the slot of the job that wrote a log of completions: the one with the same
// prefix, or else the only one of that number, as prefixes may differ by the kind of log.
func slotOf(slots []*slot, log cbt.Log) *slot {
	var same []*slot
	for _, s := range slots {
		if s.host != log.Host || s.volume != log.Volume || s.number != max(log.Job, 1) || s.segment >= 0 || s.raw.File != nil {
			continue
		}
		if s.prefix == log.Prefix && s.folder == path.Dir(log.File.Path) {
			return s
		}
		same = append(same, s)
	}
	if len(same) == 1 {
		return same[0]
	}
	return nil
}

// segments are the sums of the rows of each job in a log of several (per_job_logs=0), as
// far as their times say where the next one begins. There is at least one.
func segments(log cbt.Log, hint hist.Hint, readers *logReaders) []*rowSums {
	h := openHist(log, 0, hint, readers)
	defer h.close()
	all := []*rowSums{{}}
	for {
		e, ok := h.read()
		if !ok {
			return all
		}
		if e.err != nil {
			continue
		}
		if e.NewJob {
			all = append(all, &rowSums{})
		}
		all[len(all)-1].add(e.Record)
	}
}

// rawLogs are the logs of single completions, and those of averages (log_avg_msec) of
// latency, rate and bandwidth, which have no block size and no use for percentiles.
// Logs of total latency are used where there are none of completion latency.
func (b *planner) rawLogs() (raw, averaged []cbt.Log) {
	var total []cbt.Log
	for _, log := range b.run.Others {
		switch {
		case log.Stored || log.Kind == fiolog.Slat:
		case log.Kind == fiolog.IOPS || log.Kind == fiolog.BW || isAveraged(log):
			if log.Kind != fiolog.Lat {
				averaged = append(averaged, log)
			}
		case log.Kind == fiolog.Clat:
			raw = append(raw, log)
		case log.Kind == fiolog.Lat:
			total = append(total, log)
		}
	}
	if len(raw) == 0 && len(total) > 0 {
		b.note("%s: no logs of completion latency: those of total latency (_lat) are used, which begins with submission", b.title)
		raw = total
	}
	return raw, averaged
}

// isAveraged looks at the first row of a log. One that has no row counts as one of
// completions: then reading it says what is wrong.
func isAveraged(log cbt.Log) bool {
	in, err := log.File.Open()
	if err != nil {
		return false
	}
	defer in.Close()
	rec, err := fiolog.NewRawReader(in, log.File.Name(), fiolog.BufferSize(0)).Next()
	return err == nil && (rec.BlockSize == 0 || rec.Averaged)
}
