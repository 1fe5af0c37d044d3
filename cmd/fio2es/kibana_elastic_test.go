package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
	"github.com/fio2es/fio2es/mapping"
)

// The time of the example archive with some seconds around it, and a time without documents.
var (
	exampleTime = kibanatest.Context{From: at("2026-11-21T03:14:30Z"), To: at("2026-11-21T03:16:10Z")}
	emptyTime   = kibanatest.Context{From: at("2020-01-01T00:00:00Z"), To: at("2020-01-01T00:02:00Z")}
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// recordedAnswers is where package kibana has the answers with which it draws panels.
var recordedAnswers = filepath.Join("..", "..", "kibana", "testdata", "answers")

// firstRun is the first run of the example archive, as the control Run selects it.
var firstRun = kibanatest.Context{
	From: at("2026-11-21T03:14:33Z"), To: at("2026-11-21T03:14:43Z"),
	Filters: []any{map[string]any{"match_phrase": map[string]any{"run.name": "0/id-7c1f03ab"}}},
}

// allNights is the time of the nights of pushNights.
var allNights = kibanatest.Context{From: at("2026-01-01T00:00:00Z"), To: at("2026-03-02T00:00:00Z")}

// pictured are the panels whose pictures do not show the whole example archive: what they show, and in which prefix
// it is.
var pictured = map[string]struct {
	of      int
	context kibanatest.Context
}{
	"run-facts": {0, firstRun}, "percentiles": {0, firstRun}, "heatmap": {0, firstRun}, "within": {0, firstRun}, "distribution": {0, firstRun},
	"iops": {0, firstRun}, "bandwidth": {0, firstRun}, "hosts": {0, firstRun}, "host-ranking": {0, firstRun}, "host-heatmap": {0, firstRun},
	"history-counts": {1, allNights}, "history-runs": {1, allNights},
	"live-latency": {2, liveTime}, "live-hosts": {2, liveTime}, "live-heatmap": {2, liveTime},
}

// pushNights stores a history with changes in a cluster, under a prefix.
func pushNights(t *testing.T, real estest.Real, prefix string) {
	t.Helper()
	at := []string{"--elasticsearch=" + real.Address, "--prefix=" + prefix}
	outputOf(t, append([]string{"setup"}, at...)...)
	outputOf(t, append([]string{"push", "--history", nights(t, 60)}, at...)...)
	request(t, real, "POST", "/"+prefix+"-*/_refresh", "", &struct{}{})
}

// TestKibanaElastic sends all searches of panels to a real cluster that has the example archive. The answers must be
// the recorded ones; -update records them again.
func TestKibanaElastic(t *testing.T) {
	real, prefixes := cluster(t, "kibana", "nights", "live")
	prefix := prefixes[0]
	ingestExample(t, real, prefix)
	markExample(t, real, prefix)
	pushNights(t, real, prefixes[1])
	ingestExample(t, real, prefixes[2])
	sendLive(t, real, prefixes[2])
	b, err := kibana.New(kibana.Options{Prefix: prefix})
	check(t, err)
	if golden.Update() {
		check(t, os.RemoveAll(recordedAnswers))
		check(t, os.MkdirAll(recordedAnswers, 0o755))
	}
	for _, r := range requests(t, b) {
		t.Run(r.Panel+"/"+r.Data, func(t *testing.T) {
			for kind, context := range map[string]kibanatest.Context{kibanatest.Full: exampleTime, kibanatest.Empty: emptyTime} {
				answer := ask(t, real, r, context)
				compareAnswer(t, r, kind, prefix, answer)
			}
			if p, ok := pictured[r.Panel]; ok {
				of := prefixes[p.of]
				shown := r
				shown.URL = json.RawMessage(strings.ReplaceAll(string(r.URL), prefix, of))
				compareAnswer(t, r, kibanatest.Pictured, of, ask(t, real, shown, p.context))
			}
			missing := r
			missing.URL = json.RawMessage(strings.ReplaceAll(string(r.URL), prefix, prefix+"-nosuch"))
			got, err := kibanatest.Normalize(ask(t, real, missing, exampleTime), prefix)
			check(t, err)
			var what struct{ Aggregations, Hits json.RawMessage }
			if err := json.Unmarshal(got, &what); err != nil || what.Aggregations != nil {
				t.Errorf("an index that is not there: %s, %v", got, err)
			}
		})
	}
	t.Run("live", func(t *testing.T) {
		both := kibanatest.Context{From: exampleTime.From, To: liveTime.To}
		for _, r := range requests(t, b) {
			r.URL = json.RawMessage(strings.ReplaceAll(string(r.URL), prefix, prefixes[2]))
			text := string(ask(t, real, r, both))
			if isLive := strings.HasPrefix(r.Panel, "live-"); strings.Contains(text, `"newest"`) && strings.Contains(text, liveID) != isLive {
				t.Errorf("%s, %s: the newest run is the live one: %v", r.Panel, r.Data, !isLive)
			}
		}
	})
	t.Run("percentiles", func(t *testing.T) { checkPercentiles(t, real, prefix, requests(t, b)) })
}

// ingestExample stores the example archive in a cluster, under a prefix.
func ingestExample(t *testing.T, real estest.Real, prefix string) {
	t.Helper()
	isolate(t)
	at := []string{"--elasticsearch=" + real.Address, "--prefix=" + prefix}
	outputOf(t, append([]string{"setup"}, at...)...)
	outputOf(t, append([]string{"ingest", "--levels=cluster,host,job", filepath.Join("..", "..", "examples", "cbt-archive")}, at...)...)
	request(t, real, "POST", "/"+prefix+"-*/_refresh", "", &struct{}{})
}

// markExample gives runs of the example archive changes, because it has too few runs to find any.
func markExample(t *testing.T, real estest.Real, prefix string) {
	t.Helper()
	client, err := es.New(real.Config)
	check(t, err)
	t.Cleanup(client.Close)
	const before = "e87ec34a8b170942de51"
	check(t, elastic.New(client, prefix).Mark(t.Context(), map[string][]mapping.Change{
		"5be8a10059e76bb89de8": {
			{Direction: "write", Metric: "p99", Verdict: "worse", Before: 8964.388, After: 10813.44, Percent: 20.627, BeforeRun: before, Text: "p99 of writes 10.8ms, was 8.96ms: +20.6 % (+18.2 … +23.0 %)"},
			{Direction: "write", Metric: "iops", Verdict: "worse", Before: 2629.147, After: 184.247, Percent: -92.992, BeforeRun: before, Text: "IOPS of writes 184, was 2629: -93.0 % (-93.5 … -92.4 %)"},
		},
		"47e16f24ff96c733e2b6": {
			{Direction: "read", Metric: "p99_9", Verdict: "better", Before: 17975.551, After: 13975.551, Percent: -22.253, BeforeRun: before, Text: "p99.9 of reads 14.0ms, was 18.0ms: -22.3 % (-25.0 … -20.1 %)"},
			{Direction: "write", Metric: "p99_9", Verdict: "worse", Before: 10975.551, After: 13975.551, Percent: 27.334, BeforeRun: before, Text: "p99.9 of writes 14.0ms, was 11.0ms: +27.3 % (+25.0 … +30.1 %)"},
		},
	}))
}

// ask sends a panel's search as Kibana would. The answer must be complete.
func ask(t *testing.T, real estest.Real, r kibanatest.Request, c kibanatest.Context) json.RawMessage {
	t.Helper()
	search, err := kibanatest.Resolve(r.URL, c)
	check(t, err)
	return searchFor(t, real, search)
}

func searchFor(t *testing.T, real estest.Real, s kibanatest.Search) json.RawMessage {
	t.Helper()
	var answer json.RawMessage
	request(t, real, "POST", "/"+s.Index+"/_search?ignore_unavailable=true", string(s.JSON()), &answer)
	var whole struct {
		TimedOut bool                                    `json:"timed_out"`
		Shards   struct{ Total, Successful, Failed int } `json:"_shards"`
	}
	if err := json.Unmarshal(answer, &whole); err != nil || whole.TimedOut || whole.Shards.Failed > 0 || whole.Shards.Successful != whole.Shards.Total {
		t.Fatalf("%s: not answered by all shards: %+v, %v", s.Index, whole, err)
	}
	return answer
}

// compareAnswer compares an answer with the recorded one. It ignores the last digits of numbers, and members that
// later versions add.
func compareAnswer(t *testing.T, r kibanatest.Request, kind, prefix string, answer json.RawMessage) {
	t.Helper()
	got, err := kibanatest.Normalize(answer, prefix)
	check(t, err)
	if golden.Update() {
		check(t, kibanatest.WriteAnswer(recordedAnswers, r.Panel, r.Data, kind, got))
		return
	}
	want, err := kibanatest.ReadAnswer(recordedAnswers, r.Panel, r.Data, kind)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("no answer is recorded: run this with -update")
	}
	check(t, err)
	var a, b any
	check(t, errors.Join(json.Unmarshal(want, &a), json.Unmarshal(got, &b)))
	volatile := cmp.FilterPath(func(p cmp.Path) bool {
		last := fmt.Sprint(p.Last()) // a sign of life is in the time of the cluster, some milliseconds off
		return strings.Contains(last, `["ingested"]`) || strings.Contains(last, `["value_as_string"]`) && strings.Contains(p.GoString(), `["seen"]`)
	}, cmp.Ignore())
	if diff := cmp.Diff(a, asIn(a, b), cmpopts.EquateApprox(1e-9, 0), volatile); diff != "" {
		t.Errorf("answer%s differs from the recorded one (-want +got):\n%.2000s", kind, diff)
	}
}

// asIn returns got without members that the objects of want lack.
func asIn(want, got any) any {
	switch got := got.(type) {
	case map[string]any:
		want, ok := want.(map[string]any)
		if !ok {
			return got
		}
		same := map[string]any{}
		for k, v := range got {
			if w, ok := want[k]; ok {
				same[k] = asIn(w, v)
			}
		}
		return same
	case []any:
		want, ok := want.([]any)
		if !ok || len(want) != len(got) {
			return got
		}
		same := make([]any, len(got))
		for i, v := range got {
			same[i] = asIn(want[i], v)
		}
		return same
	}
	return got
}

// plain asks for percentiles over time by direction and by host. So some percentiles are compared even if no panel
// asks for them.
const plain = `{"index": "PREFIX-latency.host-*", "%context%": true, "%timefield%": "@timestamp", "body": {"size": 0, "aggs": {
	"directions": {"terms": {"field": "fio.direction"}, "aggs": {"hosts": {"terms": {"field": "run.hosts"}, "aggs": {
		"time": {"date_histogram": {"field": "@timestamp", "interval": {"%autointerval%": 60}, "min_doc_count": 1}, "aggs": {
			"p": {"percentiles": {"field": "latency.histogram", "percents": [50, 90, 99, 99.9, 100], "hdr": {"number_of_significant_value_digits": 3}}}}}}}}},
	"runs": {"terms": {"field": "run.id"}, "aggs": {
		"p": {"percentiles": {"field": "latency.histogram", "keyed": false, "percents": [50, 99], "hdr": {"number_of_significant_value_digits": 3}}}}}
}}}`

// checkPercentiles compares each percentile in each answer with that of the merged histograms of its documents, at
// three zoom levels.
func checkPercentiles(t *testing.T, real estest.Real, prefix string, requests []kibanatest.Request) {
	url := json.RawMessage(strings.ReplaceAll(plain, "PREFIX", prefix))
	requests = append(slices.Clone(requests), kibanatest.Request{Panel: "plain", Data: "plain", URL: url})
	for name, context := range map[string]kibanatest.Context{
		"one run":  {From: at("2026-11-21T03:16:00Z"), To: at("2026-11-21T03:16:08Z")},
		"archive":  exampleTime,
		"one hour": {From: at("2026-11-21T03:00:00Z"), To: at("2026-11-21T04:00:00Z")},
		"one year": {From: at("2026-01-01T00:00:00Z"), To: at("2027-01-01T00:00:00Z")},
	} {
		total := differences{}
		for _, r := range requests {
			o := newOracle(t, real, r, context)
			o.check(ask(t, real, r, context))
			if o.skipped != "" {
				t.Logf("%s: panel %s, data set %s is not checked: %s", name, r.Panel, r.Data, o.skipped)
			}
			total.add(o.differences)
		}
		t.Logf("%s: %d percentiles: %v", name, len(total.all), total)
		if len(total.all) == 0 {
			t.Errorf("%s: no percentiles were compared", name)
		}
	}
}
