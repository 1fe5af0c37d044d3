package mapping_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
)

func TestCheck(t *testing.T) {
	far := time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		spoil func(*mapping.Interval)
		want  error
	}{
		"good":         {func(*mapping.Interval) {}, nil},
		"run":          {func(d *mapping.Interval) { d.Run.ID = "" }, mapping.ErrIdentity},
		"ingest":       {func(d *mapping.Interval) { d.Run.Ingest = "" }, mapping.ErrIdentity},
		"level":        {func(d *mapping.Interval) { d.Level = 9 }, mapping.ErrIdentity},
		"direction":    {func(d *mapping.Interval) { d.Fio.Direction = "" }, mapping.ErrIdentity},
		"part":         {func(d *mapping.Interval) { d.Part = -1 }, mapping.ErrIdentity},
		"time":         {func(d *mapping.Interval) { d.Time = far }, mapping.ErrTime},
		"end":          {func(d *mapping.Interval) { d.Window.End = far }, mapping.ErrTime},
		"length":       {func(d *mapping.Interval) { d.Window.MS = -1 }, mapping.ErrNumber},
		"weight":       {func(d *mapping.Interval) { d.Requests.Weight = math.NaN() }, mapping.ErrNumber},
		"completed":    {func(d *mapping.Interval) { d.Requests.Completed = -1 }, mapping.ErrNumber},
		"iops":         {func(d *mapping.Interval) { d.IOPS = math.Inf(1) }, mapping.ErrNumber},
		"p99":          {func(d *mapping.Interval) { d.Latency.P99 = -1 }, mapping.ErrNumber},
		"value":        {func(d *mapping.Interval) { d.Latency.Bins.Values[3] = math.NaN() }, mapping.ErrNumber},
		"descending":   {func(d *mapping.Interval) { d.Latency.Bins.Values[3] = 1 }, mapping.ErrBins},
		"lengths":      {func(d *mapping.Interval) { d.Latency.Bins.Values = nil }, mapping.ErrBins},
		"zero count":   {func(d *mapping.Interval) { d.Latency.Bins.Counts[3] = 0 }, mapping.ErrBins},
		"large count":  {func(d *mapping.Interval) { d.Latency.Bins.Counts[3] = 1 << 31 }, mapping.ErrCountLimit},
		"sum":          {func(d *mapping.Interval) { d.DocCount++ }, mapping.ErrDocCount},
		"no doc count": {func(d *mapping.Interval) { d.DocCount = 0 }, mapping.ErrDocCount},
		"large sum": {func(d *mapping.Interval) {
			d.Latency.Bins.Counts[3], d.Latency.Bins.Counts[4] = 1<<30, 1<<30
			d.DocCount = d.Latency.Bins.Total()
		}, mapping.ErrCountLimit},
	} {
		d := sample(8)
		c.spoil(d)
		if err := d.Check(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v instead of %v", name, err, c.want)
		}
	}
}

func TestRunCheck(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*mapping.Run)
		want  error
	}{
		"good":   {func(*mapping.Run) {}, nil},
		"id":     {func(r *mapping.Run) { r.Run.ID = "" }, mapping.ErrIdentity},
		"ingest": {func(r *mapping.Run) { r.Run.Ingest = "" }, mapping.ErrIdentity},
		"level":  {func(r *mapping.Run) { r.Levels[0] = 0 }, mapping.ErrIdentity},
		"end":    {func(r *mapping.Run) { r.Run.End = time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC) }, mapping.ErrTime},
		"iops":   {func(r *mapping.Run) { r.All.IOPS = math.NaN() }, mapping.ErrNumber},
		"bins":   {func(r *mapping.Run) { r.Write.Latency.Bins.Counts = nil }, mapping.ErrBins},
		"fio":    {func(r *mapping.Run) { r.All.Fio = &mapping.FioLatency{Max: math.Inf(1)} }, mapping.ErrNumber},
		"host":   {func(r *mapping.Run) { r.Hosts[0].Start = r.Run.Start.AddDate(9000, 0, 0) }, mapping.ErrUnreadable},
		"rank": {func(r *mapping.Run) {
			r.All.Fio = &mapping.FioLatency{Percentiles: []mapping.FioPercentile{{Rank: 100.5}}}
		}, mapping.ErrNumber},
	} {
		r := sampleRun()
		c.spoil(r)
		if err := r.Check(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v instead of %v", name, err, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genInterval(t)
		d.Part, d.Requests.Weight, d.IOPS = 0, float64(d.DocCount)+0.25, 1000
		if rapid.Bool().Draw(t, "one large count") && !d.Latency.Bins.IsZero() {
			d.Latency.Bins.Counts[0] += 1 << 33
			d.DocCount = d.Latency.Bins.Total()
		}
		parts, ids := d.Split(), map[string]bool{}
		count, completed, weight, iops := int64(0), int64(0), 0.0, 0.0
		merged := map[float64]int64{}
		for _, p := range parts {
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			ids[p.ID()] = true
			count, completed = count+p.DocCount, completed+p.Requests.Completed
			weight, iops = weight+p.Requests.Weight, iops+p.IOPS
			for i, v := range p.Latency.Bins.Values {
				merged[v] += p.Latency.Bins.Counts[i]
			}
		}
		whole := map[float64]int64{}
		for i, v := range d.Latency.Bins.Values {
			whole[v] += d.Latency.Bins.Counts[i]
		}
		if diff := cmp.Diff(whole, merged); diff != "" {
			t.Fatalf("bins (-want +got):\n%s", diff)
		}
		if count != d.DocCount || completed != d.Requests.Completed || len(ids) != len(parts) {
			t.Fatalf("%d parts: %d of %d, %d of %d completed", len(parts), count, d.DocCount, completed, d.Requests.Completed)
		}
		if math.Abs(weight-d.Requests.Weight) > 1e-6*(1+weight) || math.Abs(iops-1000) > 1e-6 {
			t.Fatalf("weight %v of %v, iops %v", weight, d.Requests.Weight, iops)
		}
		if parts[0].ID() != d.ID() {
			t.Fatal("the first part has another id than the whole")
		}
	})
}

func TestSplitLeavesFaultsToCheck(t *testing.T) {
	d := sample(3)
	d.Latency.Bins = mapping.Bins{Values: []float64{1}, Counts: []int64{1 << 40, -1}}
	if parts := d.Split(); len(parts) != 1 || parts[0] != d {
		t.Errorf("split into %d", len(parts))
	}
	d.Requests.Completed, d.Latency.Bins = -5, mapping.Bins{Values: []float64{1}, Counts: []int64{1 << 40}}
	d.Split() // must not panic
}

// FuzzDecodeInterval: no text makes decoding panic, and what passes Check is
// written and read back as the same document.
func FuzzDecodeInterval(f *testing.F) {
	f.Add(sample(9).AppendJSON(nil))
	f.Add(sample(0).AppendJSON(nil))
	f.Add([]byte(`{"level":"host","latency":{"histogram":{"values":[2,1],"counts":[1]},"layout":"fio2/6"},"_doc_count":-1}`))
	f.Add([]byte(`{"@timestamp":"9999-12-31T23:59:59.9999-12:00","run":{"id":"a","ingest":"b","labels":{"":""}},"level":"job"}`))
	for _, latency := range []string{`"min":1,"mean":0`, `"min":1,"mean":2,"p50":1`, `"mean":0`, `"mean":2`, `"mean":0,"layout":"fio3/0"`, `"stddev":5e-324`} {
		f.Add([]byte(`{"level":"host","run":{"id":"a","ingest":"b","start":"2026-01-01T00:00:00Z"},"fio":{"direction":"read"},"@timestamp":"2026-01-01T00:00:00Z",` +
			`"interval":{"end":"2026-01-01T00:00:00Z"},"latency":{` + latency + `}}`))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var d mapping.Interval
		if json.Unmarshal(text, &d) != nil {
			return
		}
		d.ID()
		d.Index("fio", mapping.Years)
		d.Split()
		_, _ = d.Latency.Hist()
		first := d.AppendJSON(nil)
		if err := d.Check(); err != nil {
			if !json.Valid(first) {
				t.Fatalf("not JSON: %s", first)
			}
			return
		}
		var again mapping.Interval
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("read back %s: %v", first, err)
		}
		if second := again.AppendJSON(nil); string(second) != string(first) {
			t.Fatalf("written again:\n%s\n%s", first, second)
		}
	})
}
