package mapping_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// TestBinTexts: every bin of every layout is written as the number that it is.
func TestBinTexts(t *testing.T) {
	for _, l := range someLayouts() {
		h := hist.New(l)
		var values, counts []string
		for i := range l.Len() {
			n := int64(1) << (i % 31)
			h.AddAt(i, float64(n))
			values = append(values, strconv.FormatFloat(l.Middle(i)/1000, 'f', -1, 64))
			counts = append(counts, strconv.FormatInt(n, 10))
		}
		d := sample(1)
		d.Latency = mapping.NewLatency(h, nil)
		want := `"histogram":{"values":[` + strings.Join(values, ",") + `],"counts":[` + strings.Join(counts, ",") + `]}`
		if text := string(d.AppendJSON(nil)); !strings.Contains(text, want) {
			t.Errorf("%v: %.300s", l, text)
		}
	}
}

// TestBinsOfOtherValues: values that are no bins' middles are written as they are.
func TestBinsOfOtherValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sample(1)
		d.Latency.Layout = rapid.SampledFrom([]string{"fio3/0", "fio3/6", "fio2/3", "fio2/0/24", "other"}).Draw(t, "layout")
		d.Latency.Bins = mapping.Bins{
			Values: rapid.SliceOfN(rapid.Float64Range(-1, math.MaxFloat64), 3, 3).Draw(t, "values"),
			Counts: rapid.SliceOfN(rapid.Int64(), 3, 3).Draw(t, "counts"),
		}
		d.Latency.Bins.Values[1] = hist.Fio3(0).Middle(rapid.IntRange(0, 1855).Draw(t, "bin")) / 1000
		var got mapping.Interval
		if err := json.Unmarshal(d.AppendJSON(nil), &got); err != nil {
			t.Fatal(err)
		}
		for i, want := range d.Latency.Bins.Values {
			if got.Latency.Bins.Values[i] != want || got.Latency.Bins.Counts[i] != d.Latency.Bins.Counts[i] {
				t.Errorf("%v %v instead of %v %v", got.Latency.Bins.Values[i], got.Latency.Bins.Counts[i], want, d.Latency.Bins.Counts[i])
			}
		}
	})
}

// TestTimes: they are RFC 3339 with three decimals, rounded down.
func TestTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62_135_596_800, 253_402_300_799).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanosecond"))
		d := sample(1)
		d.Time = at.In(time.FixedZone("x", rapid.IntRange(-50_000, 50_000).Draw(t, "zone")))
		want := `{"@timestamp":"` + at.UTC().Format("2006-01-02T15:04:05.000Z") + `",`
		if text := string(d.AppendJSON(nil)); !strings.HasPrefix(text, want) {
			t.Fatalf("%.60s instead of %s", text, want)
		}
	})
}
