package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// hdrResolution is the largest relative difference between an answer of hdr with three digits and its value. Its
// buckets are at most 1/1024 wide, and it returns their upper end.
const hdrResolution = 1.0 / 1024

// oracle knows the right answers to searches with percentiles. It has all documents, finds those of each bucket, and
// merges their histograms.
//
// The bound: hdr takes the request of rank round(q*N), and hist that of ceil(q*N), so hdr is at most one request
// lower. Documents contain the middles of bins, and hist places each request within its bin. So an answer lies in
// the bin of hist's answer, or in that of the request before, each widened by hdr's resolution. If it is the same
// bin, with bins of 1/64, the difference is less than 0.9 %. If there are few requests, the request before may be
// far away.
type oracle struct {
	t         *testing.T
	request   kibanatest.Request
	aggs      map[string]any
	documents []document
	skipped   string // why some were not compared
	differences
}

// document is a document as aggregations see it.
type document struct {
	values map[string][]any // by field
	hist   *hist.Histogram
	exact  map[string]float64 // stored percentiles, by the text of their percent
}

// differences are relative differences between percentiles and the exact ones.
type differences struct{ all, stored []float64 }

func (d *differences) add(more differences) {
	d.all, d.stored = append(d.all, more.all...), append(d.stored, more.stored...)
}

func (d differences) String() string {
	show := func(list []float64) string {
		if len(list) == 0 {
			return "none"
		}
		sorted := slices.Clone(list)
		slices.Sort(sorted)
		return fmt.Sprintf("%d, median %.3f %%, 95th percentile %.3f %%, largest %.3f %%",
			len(list), 100*sorted[len(list)/2], 100*sorted[len(list)*95/100], 100*sorted[len(list)-1])
	}
	return "from merged histograms: " + show(d.all) + "; of one document, from what it stores: " + show(d.stored)
}

func newOracle(t *testing.T, real estest.Real, r kibanatest.Request, c kibanatest.Context) *oracle {
	t.Helper()
	o := &oracle{t: t, request: r}
	resolved, err := kibanatest.Resolve(r.URL, c)
	check(t, err)
	o.aggs, _ = resolved.Body["aggs"].(map[string]any)
	all := kibanatest.Search{Index: resolved.Index, Body: map[string]any{"size": 10000, "query": resolved.Body["query"]}}
	var answer struct {
		Hits struct {
			Hits []struct {
				Source map[string]any `json:"_source"`
			}
		}
	}
	check(t, json.Unmarshal(searchFor(t, real, all), &answer))
	for _, h := range answer.Hits.Hits {
		o.documents = append(o.documents, newDocument(t, h.Source))
	}
	return o
}

func newDocument(t *testing.T, source map[string]any) document {
	t.Helper()
	d := document{values: map[string][]any{}, exact: map[string]float64{}}
	flatten("", source, d.values)
	for field, percent := range map[string]string{"p50": "50.0", "p75": "75.0", "p90": "90.0", "p95": "95.0", "p99": "99.0", "p99_9": "99.9", "p99_99": "99.99"} {
		if v, ok := d.values["latency."+field]; ok {
			d.exact[percent] = v[0].(float64)
		}
	}
	for _, field := range []string{"latency.histogram", "all.latency.histogram"} {
		values, counts := d.values[field+".values"], d.values[field+".counts"]
		if len(values) > 0 {
			d.hist = hist.New(hist.Fio3(0))
			for i, v := range values {
				d.hist.AddLatency(int64(math.Round(v.(float64)*1000)), counts[i].(float64))
			}
			break
		}
	}
	return d
}

func flatten(path string, v any, into map[string][]any) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			flatten(strings.TrimPrefix(path+"."+name, "."), inner, into)
		}
	case []any:
		for _, inner := range v {
			flatten(path, inner, into)
		}
	default:
		into[path] = append(into[path], v)
	}
}

func (o *oracle) check(answer []byte) {
	o.t.Helper()
	var a struct{ Aggregations map[string]any }
	if err := json.Unmarshal(answer, &a); err != nil {
		o.t.Fatal(err)
	}
	if a.Aggregations != nil {
		o.level(o.aggs, a.Aggregations, o.documents)
	}
}

// level compares all aggregations of one level with these documents.
func (o *oracle) level(aggs, answers map[string]any, documents []document) {
	o.t.Helper()
	for name, v := range aggs {
		one := v.(map[string]any)
		answer, _ := answers[name].(map[string]any)
		below, _ := one["aggs"].(map[string]any)
		for kind, p := range one {
			params, _ := p.(map[string]any)
			switch kind {
			case "aggs", "meta":
			case "percentiles":
				o.percentiles(name, params, answer, documents)
			default:
				if hasPercentiles(below) {
					o.buckets(name, kind, params, below, answer, documents)
				}
			}
		}
	}
}

func hasPercentiles(aggs map[string]any) bool {
	text, err := json.Marshal(aggs)
	return err == nil && strings.Contains(string(text), `"percentiles"`)
}

func (o *oracle) buckets(name, kind string, params, below, answer map[string]any, documents []document) {
	o.t.Helper()
	field, _ := params["field"].(string)
	list, isList := answer["buckets"].([]any)
	if kind == "filter" {
		o.level(below, answer, which(documents, func(d document) bool { return fulfils(d, params) }))
		return
	}
	if named, ok := answer["buckets"].(map[string]any); ok && kind == "filters" {
		for key, b := range named {
			query := params["filters"].(map[string]any)[key]
			o.level(below, b.(map[string]any), which(documents, func(d document) bool { return fulfils(d, query) }))
		}
		return
	}
	if !isList {
		o.skipped = kind + " " + name
		return
	}
	for i, b := range list {
		bucket := b.(map[string]any)
		var has func(d document) bool
		switch kind {
		case "date_histogram", "auto_date_histogram":
			from, to := span(list, i, params, answer)
			has = func(d document) bool { t := timeOf(d, field); return t >= from && t < to }
		case "terms":
			has = func(d document) bool { return slices.ContainsFunc(valuesOf(d, field), equals(bucket["key"])) }
		case "composite":
			has = func(d document) bool { return isOf(d, params["sources"].([]any), bucket["key"].(map[string]any)) }
		case "multi_terms":
			has = func(d document) bool {
				keys := bucket["key"].([]any)
				for i, term := range params["terms"].([]any) {
					if !slices.ContainsFunc(valuesOf(d, term.(map[string]any)["field"].(string)), equals(keys[i])) {
						return false
					}
				}
				return true
			}
		default:
			o.skipped = kind + " " + name
			return
		}
		o.level(below, bucket, which(documents, has))
	}
}

// isOf reports whether a document is in the bucket of a composite aggregation.
func isOf(d document, sources []any, key map[string]any) bool {
	for _, s := range sources {
		for name, kinds := range s.(map[string]any) {
			for _, params := range kinds.(map[string]any) {
				if !slices.ContainsFunc(valuesOf(d, params.(map[string]any)["field"].(string)), equals(key[name])) {
					return false
				}
			}
		}
	}
	return true
}

// valuesOf returns the values of a field, or of its second form as a keyword.
func valuesOf(d document, field string) []any {
	return d.values[strings.TrimSuffix(field, ".keyword")]
}

func equals(key any) func(any) bool {
	return func(v any) bool { return fmt.Sprint(v) == fmt.Sprint(key) }
}

// fulfils evaluates the few queries that panels use in filters.
func fulfils(d document, query any) bool {
	for kind, params := range query.(map[string]any) {
		for field, value := range params.(map[string]any) {
			switch kind {
			case "term":
				if !slices.ContainsFunc(valuesOf(d, field), equals(value)) {
					return false
				}
			case "exists":
				if name := value.(string); len(d.values[name]) == 0 && len(d.values[name+".values"]) == 0 {
					return false
				}
			}
		}
	}
	return true
}

// span returns the time of a bucket in milliseconds.
func span(list []any, i int, params, answer map[string]any) (from, to float64) {
	from = list[i].(map[string]any)["key"].(float64)
	text, _ := params["fixed_interval"].(string)
	if text == "" {
		text, _ = params["calendar_interval"].(string)
	}
	if text == "" {
		text, _ = answer["interval"].(string)
	}
	return from, from + float64(lengthOf(text))/float64(time.Millisecond)
}

func lengthOf(interval string) time.Duration {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour, "M": 31 * 24 * time.Hour, "y": 366 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(interval, unit); ok {
			var n int64
			if _, err := fmt.Sscan(number, &n); err == nil {
				return time.Duration(n) * length
			}
		}
	}
	length, err := time.ParseDuration(interval)
	if err != nil {
		panic(err)
	}
	return length
}

// timeOf returns a field of type date, or a number of milliseconds, in milliseconds.
func timeOf(d document, field string) float64 {
	v := d.values[strings.TrimSuffix(field, ".time")]
	if len(v) == 0 {
		return math.NaN()
	}
	if ms, ok := v[0].(float64); ok {
		return ms
	}
	return float64(at(v[0].(string)).UnixMilli())
}

func which(documents []document, has func(document) bool) []document {
	var list []document
	for _, d := range documents {
		if has(d) {
			list = append(list, d)
		}
	}
	return list
}

// percentiles compares an answer with the documents from which it was computed.
func (o *oracle) percentiles(name string, params, answer map[string]any, documents []document) {
	o.t.Helper()
	if field := params["field"].(string); !strings.HasSuffix(field, "latency.histogram") {
		o.skipped = "percentiles of " + field
		return
	}
	merged := hist.New(hist.Fio3(0))
	with := which(documents, func(d document) bool { return d.hist != nil })
	for _, d := range with {
		merged.Merge(d.hist)
	}
	for percent, v := range keyed(answer["values"]) {
		got, ok := v.(float64)
		if !ok || merged.IsEmpty() {
			if ok || !merged.IsEmpty() {
				o.t.Errorf("panel %s, %s: p%s is %v of %v requests", o.request.Panel, name, percent, v, merged.Total())
			}
			continue
		}
		var q float64
		if _, err := fmt.Sscan(percent, &q); err != nil {
			o.t.Fatal(err)
		}
		n := merged.Total()
		want, before := merged.Percentile(q/100), merged.Percentile((math.Ceil(q/100*n-1e-9)-1)/n)
		if !isIn(got, want) && !isIn(got, before) {
			o.t.Errorf("panel %s, %s: p%s of %v requests in %d documents is %v µs, want one of the bins of %v and %v ns",
				o.request.Panel, name, percent, n, len(with), got, want.Value, before.Value)
		}
		o.all = append(o.all, math.Abs(got*1000-want.Value)/want.Value)
		if exact, ok := documentsPercentile(with, percent); ok {
			o.stored = append(o.stored, math.Abs(got-exact)/exact)
		}
	}
}

// isIn reports whether a latency in microseconds is in the bin of an answer.
func isIn(µs float64, a hist.Answer) bool {
	return µs >= a.Low/1000*(1-hdrResolution) && µs <= a.High/1000*(1+hdrResolution)
}

func documentsPercentile(documents []document, percent string) (float64, bool) {
	if len(documents) != 1 {
		return 0, false
	}
	v, ok := documents[0].exact[percent]
	return v, ok
}

// keyed returns percentiles by percent: from an object, or from a list if keyed is false.
func keyed(values any) map[string]any {
	if m, ok := values.(map[string]any); ok {
		return m
	}
	m := map[string]any{}
	list, _ := values.([]any)
	for _, v := range list {
		one := v.(map[string]any)
		key := fmt.Sprint(one["key"])
		if !strings.Contains(key, ".") {
			key += ".0"
		}
		m[key] = one["value"]
	}
	return m
}
