package compact

import (
	"fmt"
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// series identifies the documents of one direction, host and job.
type series struct {
	level                mapping.Level
	direction, host, job string
}

func seriesOf(d *mapping.Interval) series {
	return series{d.Level, d.Fio.Direction, d.Host.Name, d.Fio.Job}
}

// String returns the name of the series for messages.
func (s series) String() string {
	text := s.level.String()
	for _, name := range []string{s.host, s.job, s.direction} {
		if name != "" {
			text += " " + name
		}
	}
	return text
}

// sums are the sums of the documents of one series.
type sums struct {
	completed, counts int64
	weight            float64
	documents         int
}

// tally adds up documents: the requests of each series, and the histogram of each level and direction.
type tally struct {
	series     map[series]sums
	histograms map[series]*hist.Histogram
}

func newTally() *tally { return &tally{map[series]sums{}, map[series]*hist.Histogram{}} }

// add adds a document. It fails if its bins are not those of the layout.
func (t *tally) add(d *mapping.Interval) error {
	s := seriesOf(d)
	n := t.series[s]
	n.completed += d.Requests.Completed
	n.counts += d.DocCount
	n.weight += d.Requests.Weight
	n.documents++
	t.series[s] = n
	if d.Latency.Bins.IsZero() {
		return nil
	}
	h, err := d.Latency.Hist()
	if err != nil {
		return err
	}
	all := series{level: s.level, direction: s.direction}
	if t.histograms[all] == nil {
		t.histograms[all] = &hist.Histogram{}
	}
	t.histograms[all].Merge(h)
	return nil
}

// difference says how two tallies of the same requests differ. It is empty if they are equal.
func (t *tally) difference(o *tally) string {
	for s, a := range t.series {
		b := o.series[s]
		rounding := 1e-6 * float64(a.documents+b.documents)
		if a.completed != b.completed || a.counts != b.counts || math.Abs(a.weight-b.weight) > rounding {
			return fmt.Sprintf("%s: %d requests completed, %d counted, %g by weight; before %d, %d and %g",
				s, b.completed, b.counts, b.weight, a.completed, a.counts, a.weight)
		}
	}
	if len(t.series) != len(o.series) {
		return fmt.Sprintf("%d series instead of %d", len(o.series), len(t.series))
	}
	for s, a := range t.histograms {
		b := o.histograms[s]
		if b == nil || a.Layout() != b.Layout() || !slices.Equal(a.Weights(), b.Weights()) {
			return s.String() + ": the histogram differs"
		}
	}
	return ""
}
