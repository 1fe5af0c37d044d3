package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// TestKibanaElasticEstimates measures how far Elasticsearch's percentiles are from those of merged histograms, with
// hdr and with t-digest, which Kibana's own panels use. It prints the table in docs/kibana.md.
func TestKibanaElasticEstimates(t *testing.T) {
	real, prefixes := cluster(t, "estimates")
	prefix := prefixes[0]
	ingestExample(t, real, prefix)
	for coarseness := range 2 {
		storeNarrow(t, real, prefix, 3*coarseness)
	}
	request(t, real, "POST", "/"+prefix+"-*/_refresh", "", &struct{}{})
	t.Log("| documents | of each bucket | buckets | percentile | hdr: median, largest | t-digest: median, largest |")
	for _, c := range []struct {
		name, id, interval string
		layout             hist.Layout
	}{
		{"example archive", "*", "1s", hist.Fio3(0)},
		{"example archive", "*", "1h", hist.Fio3(0)},
		{"fast device, rare stalls", "narrow-0", "1s", hist.Fio3(0)},
		{"fast device, rare stalls", "narrow-0", "1m", hist.Fio3(0)},
		{"the same, coarseness 3", "narrow-3", "1s", hist.Fio3(3)},
		{"the same, coarseness 3", "narrow-3", "1m", hist.Fio3(3)},
	} {
		measure(t, real, prefix, c.name, c.id, c.interval, c.layout)
	}
}

// storeNarrow stores two minutes of a fast device: of 10,000 requests per second, 99.9 % take 80 µs ± 2 %, and the
// others about 2 ms.
func storeNarrow(t *testing.T, real estest.Real, prefix string, coarseness int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	layout := hist.Fio3(coarseness)
	var body strings.Builder
	start := at("2026-01-01T00:00:00Z")
	for second := range 120 {
		h := hist.New(layout)
		for range 10000 {
			latency := 80e3 * (1 + 0.02*(2*random.Float64()-1))
			if random.Float64() < 0.001 {
				latency = 2e6 * (1 + 0.2*random.NormFloat64())
			}
			h.AddLatency(int64(latency), 1)
		}
		var values, counts []float64
		for _, w := range h.Weights() {
			values, counts = append(values, layout.Middle(w.Index)/1000), append(counts, w.Count)
		}
		document, err := json.Marshal(map[string]any{
			"@timestamp": start.UnixMilli() + int64(second)*1000, "run": map[string]any{"id": fmt.Sprintf("narrow-%d", coarseness)},
			"fio": map[string]any{"direction": "read"}, "latency": map[string]any{"histogram": map[string]any{"values": values, "counts": counts}},
		})
		check(t, err)
		fmt.Fprintf(&body, "{\"index\":{}}\n%s\n", document)
	}
	var answer struct{ Errors bool }
	request(t, real, "POST", "/"+prefix+"-latency.cluster-2026/_bulk", body.String(), &answer)
	if answer.Errors {
		t.Fatal("documents were refused")
	}
}

var percents = []float64{50, 99, 99.9}

// estimates are percentiles of both kinds, by run, direction and time.
type estimates struct {
	Aggregations struct {
		Runs struct {
			Buckets []struct {
				Key  []string // run and direction
				Time struct {
					Buckets []struct {
						Key         float64
						Hdr, Digest struct{ Values []struct{ Value float64 } }
					}
				}
			}
		}
	}
}

// measure compares the percentiles of buckets of one length.
func measure(t *testing.T, real estest.Real, prefix, name, id, interval string, layout hist.Layout) {
	t.Helper()
	query := map[string]any{"term": map[string]any{"run.id": id}}
	if id == "*" {
		query = map[string]any{"exists": map[string]any{"field": "run.archive"}}
	}
	documents := allDocuments(t, real, prefix, query)
	length := float64(lengthOf(interval).Milliseconds())
	n, requests := 0, 0.0
	hdr, digest := make([][]float64, len(percents)), make([][]float64, len(percents))
	for _, run := range askEstimates(t, real, prefix, interval, query).Aggregations.Runs.Buckets {
		for _, bucket := range run.Time.Buckets {
			merged := hist.New(layout)
			for _, d := range documents {
				time := timeOf(d, "@timestamp")
				if d.values["run.id"][0] == run.Key[0] && d.values["fio.direction"][0] == run.Key[1] && time >= bucket.Key && time < bucket.Key+length {
					addBins(merged, d)
				}
			}
			if merged.IsEmpty() {
				continue
			}
			n, requests = n+1, requests+merged.Total()
			for p, percent := range percents {
				exact := merged.Percentile(percent/100).Value / 1000
				hdr[p] = append(hdr[p], math.Abs(bucket.Hdr.Values[p].Value-exact)/exact)
				digest[p] = append(digest[p], math.Abs(bucket.Digest.Values[p].Value-exact)/exact)
			}
		}
	}
	if n == 0 {
		t.Errorf("%s by %s: nothing was measured", name, interval)
	}
	for p, percent := range percents {
		t.Logf("| %s | %s, %.0f requests | %d | p%v | %s | %s |", name, interval, requests/float64(n), n, percent, spread(hdr[p]), spread(digest[p]))
	}
}

func addBins(h *hist.Histogram, d document) {
	for i, v := range d.values["latency.histogram.values"] {
		h.AddLatency(int64(math.Round(v.(float64)*1000)), d.values["latency.histogram.counts"][i].(float64))
	}
}

func askEstimates(t *testing.T, real estest.Real, prefix, interval string, query any) (answer estimates) {
	t.Helper()
	percentiles := func(hdr bool) map[string]any {
		p := map[string]any{"field": "latency.histogram", "percents": percents, "keyed": false}
		if hdr {
			p["hdr"] = map[string]any{"number_of_significant_value_digits": 3}
		}
		return map[string]any{"percentiles": p}
	}
	text := searchFor(t, real, kibanatest.Search{Index: prefix + "-latency.cluster-*", Body: map[string]any{
		"size": 0, "query": query, "aggs": map[string]any{"runs": map[string]any{
			"multi_terms": map[string]any{"terms": []any{map[string]any{"field": "run.id"}, map[string]any{"field": "fio.direction"}}},
			"aggs": map[string]any{"time": map[string]any{
				"date_histogram": map[string]any{"field": "@timestamp", "fixed_interval": interval, "min_doc_count": 1},
				"aggs":           map[string]any{"hdr": percentiles(true), "digest": percentiles(false)},
			}},
		}},
	}})
	check(t, json.Unmarshal(text, &answer))
	return answer
}

// spread returns the median and the largest of some differences.
func spread(list []float64) string {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return fmt.Sprintf("%.2f %%, %.1f %%", 100*sorted[len(sorted)/2], 100*sorted[len(sorted)-1])
}

func allDocuments(t *testing.T, real estest.Real, prefix string, query any) []document {
	t.Helper()
	var answer struct {
		Hits struct {
			Hits []struct {
				Source map[string]any `json:"_source"`
			}
		}
	}
	text := searchFor(t, real, kibanatest.Search{Index: prefix + "-latency.cluster-*", Body: map[string]any{"size": 10000, "query": query}})
	check(t, json.Unmarshal(text, &answer))
	var list []document
	for _, h := range answer.Hits.Hits {
		list = append(list, newDocument(t, h.Source))
	}
	return list
}
