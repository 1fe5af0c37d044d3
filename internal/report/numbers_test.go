package report

import (
	"strings"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/mapping"
)

func TestLatencyCell(t *testing.T) {
	for _, c := range []struct {
		us     float64
		answer hist.Answer
		want   cell
	}{
		{36.4, hist.Answer{Value: 36_400, Low: 36_352, High: 36_864}, cell{Text: "36.4µs", Note: "±1.3 %", Title: "between 36.4µs and 36.9µs: the bounds of the bin"}},
		{0.06, hist.Answer{Value: 60, Low: 60, High: 60}, cell{Text: "60.0ns", Note: "exact", Title: "the bin is a nanosecond wide"}},
		{17_500_000, hist.Answer{Value: 17.5e9, Low: 17.05e9, High: 17.18e9, Open: true}, cell{Text: "≥17.5s", Note: "or more", Title: "17.1s or more: fio's last bin has no upper end"}},
		{0, hist.Answer{Value: 0, Low: 0, High: 1}, cell{Text: "0.00ns", Note: "", Title: "between 0.00ns and 1.00ns: the bounds of the bin"}},
	} {
		if got := boundedCell(c.us, c.answer); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.us, got, c.want)
		}
	}
}

// TestRow: percentiles with too few requests are marked; averages have a mean alone.
func TestRow(t *testing.T) {
	h := histOf(500, 100, 200)
	served := totalOf("read", totalsOfHist(h, 10))
	served.histogram = h
	averages := totalOf("write", &mapping.Totals{Requests: 0, IOPS: 120, Latency: mapping.Latency{Mean: 42}})
	for _, c := range []struct {
		total *total
		isFew bool
		want  string
	}{
		{served, true, "1,000 100 400KiB/s 99.3µs 150µs 100µs 200µs 200µs 201µs 201µs† 201µs† 201µs"},
		{averages, false, "- 120 - - 42.0µs - - - - - - -"},
	} {
		var texts []string
		for i := range numbersColumns {
			texts = append(texts, c.total.Cell(&numbersColumns[i]).Text)
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if got := (&run{Totals: []*total{c.total}}).Few(); got != c.isFew {
			t.Errorf("%s: few %v", c.want, got)
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
