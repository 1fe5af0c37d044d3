package shared

import (
	"context"
	"fmt"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// All times of a shared run are those of one clock, that of the history: hosts add what their own one lacks, and whoever asks whether a
// host is silent asks the history for the time.

// clockOf compares the clock of this machine with that of a history. offset is what must be added to times of this machine, ± bound: it
// asks a few times, until an answer comes soon, and takes the one that came soonest. Its bound is half of the time that it took, and its
// last digit.
func clockOf(ctx context.Context, store history.Store) (offset, bound time.Duration, err error) {
	const times, digit, soon = 3, time.Millisecond, 5 * time.Millisecond
	for n := 0; n < times && (bound == 0 || bound > soon); n++ {
		asked := time.Now()
		now, err := store.Now(ctx)
		if err != nil {
			return 0, 0, err
		}
		took := time.Since(asked)
		if by := took/2 + digit; bound == 0 || by < bound {
			offset, bound = now.Sub(asked.Add(took/2)), by
		}
	}
	return offset, bound, nil
}

// Parts returns the parts of a run, given by its full id, and what the clock of the history says.
func Parts(ctx context.Context, store history.Store, id string) (parts []*mapping.Part, now time.Time, err error) {
	if parts, err = store.Parts(ctx, id); err == nil && len(parts) > 0 {
		now, err = store.Now(ctx)
	}
	return parts, now, err
}

// Clock says by how much the clock of the host is wrong, if that is more than a window. Otherwise it is "".
func (s *Sender) Clock() string {
	p := &s.part
	offset := time.Duration(p.ClockMS) * time.Millisecond
	if offset.Abs() <= time.Duration(s.run.IntervalMS)*time.Millisecond {
		return ""
	}
	way := "behind"
	if offset < 0 {
		way = "ahead of"
	}
	return fmt.Sprintf("its clock is %s %s that of the history (± %d ms): its times are corrected, also when its files are ingested into this history",
		unit.Short(offset.Abs().Round(time.Millisecond)), way, p.ClockErrorMS)
}

// at returns a time of the clock of this machine as the history has it. Steps of the clock since the fio joined do not count.
func (s *Sender) at(t time.Time) time.Time {
	return s.joined.Add(t.Sub(s.joined)).Add(time.Duration(s.part.ClockMS) * time.Millisecond).UTC().Round(0)
}
