package report

import (
	"reflect"
	"slices"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

func TestLatencyCell(t *testing.T) {
	for _, c := range []struct {
		us     float64
		answer hist.Answer
		want   Cell
	}{
		{36.4, hist.Answer{Value: 36_400, Low: 36_352, High: 36_864}, Cell{Text: "36.4µs", Note: "±1.3 %", Title: "between 36.4µs and 36.9µs: the bounds of the bin"}},
		{0.06, hist.Answer{Value: 60, Low: 60, High: 60}, Cell{Text: "60.0ns", Note: "exact", Title: "the bin is a nanosecond wide"}},
		{17_500_000, hist.Answer{Value: 17.5e9, Low: 17.05e9, High: 17.18e9, Open: true}, Cell{Text: "≥17.5s", Note: "or more", Title: "17.1s or more: fio's last bin has no upper end"}},
		{0, hist.Answer{Value: 0, Low: 0, High: 1}, Cell{Text: "0.00ns", Note: "", Title: "between 0.00ns and 1.00ns: the bounds of the bin"}},
	} {
		if got := boundedCell(c.us, c.answer); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %+v, want %+v", c.us, got, c.want)
		}
	}
}

// TestRow: percentiles of too few requests are marked, and averages have only a mean.
func TestRow(t *testing.T) {
	h := histOf(500, 100, 200)
	served := totalOf("read", totalsOfHist(h, 10))
	served.histogram = h
	averages := totalOf("write", &mapping.Totals{Requests: 0, IOPS: 120, Latency: mapping.Latency{Mean: 42}})
	for _, c := range []struct {
		total *total
		isFew bool
		want  map[string]string // all other cells are "-"
	}{
		{served, true, map[string]string{
			"requests": "1,000", "iops": "100", "bandwidth": "400KiB/s", "min": "99.3µs", "mean": "150µs", "p50": "100µs", "p90": "200µs",
			"p95": "200µs", "p99": "201µs", "p99_9": "201µs†", "p99_99": "201µs†", "max": "201µs",
		}},
		{averages, false, map[string]string{"iops": "120", "mean": "42.0µs"}},
	} {
		shown := slices.DeleteFunc(numbers()[1:], func(c table.Column[*facts.Line]) bool { return c.Name == "p75" || c.Heading == "" })
		for i, column := range shown {
			name := column.Name
			if got, want := (&run{Totals: []*total{c.total}}).Numbers().Rows[0][i+1].Text, c.want[name]; got != want && (want != "" || !c.isFew && got != "-") {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		if got := (&run{Totals: []*total{c.total}}).Few(); got != c.isFew {
			t.Errorf("%v: few %v", c.want, got)
		}
	}
}

func totalOf(direction string, t *mapping.Totals) *total {
	return &total{Line: facts.NewLine(&mapping.Run{}, true, mapping.DirectionTotals{Direction: direction, Totals: t})}
}

func TestShare(t *testing.T) {
	for x, want := range map[float64]string{0: "0.0 %", 0.0005: "0.05 %", 0.0078125: "0.8 %", 0.123: "12 %", 1: "100 %"} {
		if got := share(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
