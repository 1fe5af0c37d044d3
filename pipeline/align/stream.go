package align

import (
	"maps"
	"math"
	"slices"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Stream has the rows of one job, in order of their ends in each direction. All rows have the same layout. It is read
// once.
type Stream struct {
	Host, Job string
	// Last delays a stream until all others have ended. Its rows are not known before, such as requests that fio did
	// not log for several jobs together.
	Last bool
	// Next returns the next row, which is valid until the next call. It returns false at the end. Only one goroutine at
	// a time calls it.
	Next func() (Row, bool)

	slot  int // of its first direction
	row   Row // the next one, if there are more
	more  bool
	ended [fiolog.Directions]int64 // end of the last row of each direction, -1 before the first
	pairs [fiolog.Directions]struct{ before, last stretch }
}

func (s *Stream) advance() {
	if s.row.Bins != nil {
		s.ended[s.row.Direction] = s.row.End
	}
	s.row, s.more = s.Next()
}

// horizon is how long a window stays open after the newest rows, in milliseconds, by weighting. A row may begin a
// minute before it is written, such as the first row of a direction that stalled at once. Its slowest requests began
// even earlier.
const horizon = 60_000

type streams []*Stream

// keys sets the slots of the streams and returns the keys of the slots, sorted: each key of the
// lowest level has read, write and trim.
func (all streams) keys(lowest mapping.Level) (keys []Key) {
	keyOf := func(s *Stream) Key { return Key{Level: mapping.Job, Host: s.Host, Job: s.Job}.At(lowest) }
	slots := map[Key]int{}
	for _, s := range all {
		slots[keyOf(s)] = 0
	}
	for _, key := range slices.SortedFunc(maps.Keys(slots), Key.Compare) {
		slots[key] = len(keys)
		for d := range fiolog.Direction(fiolog.Directions) {
			key.Direction = d
			keys = append(keys, key)
		}
	}
	for _, s := range all {
		s.slot, s.ended = slots[keyOf(s)], [fiolog.Directions]int64{-1, -1, -1}
	}
	return keys
}

// soonest returns the end of the next row of all streams, or math.MaxInt64 if no stream has more rows.
func (all streams) soonest() int64 {
	soonest := int64(math.MaxInt64)
	for _, s := range all {
		if s.more {
			soonest = min(soonest, s.row.End)
		}
	}
	return soonest
}

// watermark returns the time before which later rows cannot change a window. A request reaches back by its latency,
// which the bins limit, but by at most longest milliseconds.
func (all streams) watermark(longest int64) int64 {
	mark := int64(math.MaxInt64)
	for _, s := range all {
		if !s.more {
			continue
		}
		at := s.row.Start
		for _, ended := range s.ended {
			if ended >= 0 {
				at = min(at, ended)
			}
		}
		mark = min(mark, max(at, s.row.End-horizon)-min(reachOf(s.row.Layout), longest))
	}
	return mark
}
