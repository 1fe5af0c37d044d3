package kibana_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// ofRun returns an answer with aggregations of the newest run.
func ofRun(id, aggregations string) json.RawMessage {
	return json.RawMessage(`{"timed_out":false,"aggregations":{"newest":{"buckets":[{"key":"` + id + `",` + aggregations + `}]}}}`)
}

// TestDrawRanking: hosts come first, then sections, then the slowest jobs of all hosts, each by p99: reads, then writes. Sections of another
// run than that of the hosts are left out.
func TestDrawRanking(t *testing.T) {
	browser := browser(t)
	j := job(t, bundle(t, kibana.Options{}), "host-ranking", kibanatest.Full)
	bucket := func(key string, p99 float64, more string) string {
		of := func(direction string, p99 float64) string {
			return fmt.Sprintf(`{"key":%q,"requests":{"value":9},"latency":{"values":{"50.0":5,"99.0":%v,"99.9":%v}},"max":{"value":%v}}`, direction, p99, p99+1, p99)
		}
		return fmt.Sprintf(`{"key":%q,"latency":{"values":{"99.0":%v}},"directions":{"buckets":[%s,%s]}%s}`, key, p99, of("write", 100-p99), of("read", p99), more)
	}
	jobs := func(list ...string) string { return `,"jobs":{"buckets":[` + strings.Join(list, ",") + `]}` }
	answer := func(name string, list ...string) json.RawMessage {
		return ofRun("one", `"`+name+`":{"buckets":[`+strings.Join(list, ",")+`]}`)
	}
	var many []string
	for i := range 20 {
		many = append(many, bucket(fmt.Sprint("slow", i), 50-float64(i), ""))
	}
	j.Ask = map[string]string{"names": "view.scale('y').domain()"}
	few := j
	few.Answers = map[string]json.RawMessage{
		"answer":   answer("hosts", bucket("b", 90, ""), bucket("a", 50, "")),
		"sections": answer("sections", bucket("writer", 80, ""), bucket("reader", 20, "")),
		"jobs":     answer("hosts", bucket("b", 90, jobs(bucket("1", 95, ""), bucket("2", 40, ""))), bucket("a", 50, jobs(bucket("1", 60, ""), bucket("2", 10, "")))),
	}
	j.Answers = map[string]json.RawMessage{"answer": few.Answers["answer"], "sections": answer("sections"), "jobs": answer("hosts", bucket("a", 9, jobs(bucket("1", 9, ""))), bucket("b", 90, jobs(many...)))}
	other := few
	other.Answers = maps.Clone(few.Answers)
	other.Answers["sections"] = ofRun("other", `"sections":{"buckets":[`+bucket("old", 80, "")+`]}`)
	few.Ask["beyond"] = "view.data('ranked').filter(d => d['p99.9'] > d.max).length"
	pictures := browser.draw(t, few, j, other)
	savePicture(t, "ranking", pictures[0])
	var names []string
	asked(t, pictures[0], "names", &names)
	if want := []string{
		"b, read", "a, read", "section writer, read", "section reader, read", "b, job 1, read", "a, job 1, read", "b, job 2, read", "a, job 2, read",
		"a, write", "b, write", "section reader, write", "section writer, write", "a, job 2, write", "b, job 2, write", "a, job 1, write", "b, job 1, write",
	}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	var beyond int
	if asked(t, pictures[0], "beyond", &beyond); beyond > 0 {
		t.Errorf("%d of p99.9 are beyond the maximum", beyond)
	}
	if asked(t, pictures[2], "names", &names); slices.Contains(names, "section old, read") {
		t.Errorf("sections of another run: %q", names)
	}
	asked(t, pictures[1], "names", &names)
	if len(names) != 44 || names[21] != "b, job slow19, read" {
		t.Errorf("more than 20 jobs: %q", names)
	}
}

// TestDrawHostAlone: one host has the time buckets of its own search, several hosts have few.
func TestDrawHostAlone(t *testing.T) {
	browser := browser(t)
	j := job(t, bundle(t, kibana.Options{}), "hosts", kibanatest.Full)
	host := func(buckets int) string {
		var list []string
		for i := range buckets {
			list = append(list, fmt.Sprintf(`{"begin":{"value":%d},"end":{"value":%d},"length":{"value":1000},"run":{"value":1},"requests":{"value":9},"documents":{"value":1},
				"latency":{"values":{"50.0":5,"99.0":9}},"p50":{"value":5},"p99":{"value":9},"max":{"value":9}}`, 1_780_000_000_000+1000*i, 1_780_000_001_000+1000*i))
		}
		return `{"key":"a","all":{"values":{"99.0":9}},"time":{"buckets":[` + strings.Join(list, ",") + `]}}`
	}
	j.Ask = map[string]string{"buckets": "view.data('buckets').length"}
	j.Answers = map[string]json.RawMessage{"alone": ofRun("one", `"hosts":{"buckets":[`+host(90)+`]}`)}
	several := j
	for known, to := range map[int]*Job{1: &j, 2: &several} {
		to.Answers = map[string]json.RawMessage{"alone": j.Answers["alone"], "answer": ofRun("one", fmt.Sprintf(`"known":{"value":%d},"hosts":{"buckets":[%s]}`, known, host(3)))}
	}
	for i, p := range browser.draw(t, j, several) {
		var buckets int
		if asked(t, p, "buckets", &buckets); buckets != []int{90, 3}[i] {
			t.Errorf("%d hosts: %d buckets", i+1, buckets)
		}
		savePicture(t, fmt.Sprintf("hosts-%d", i+1), p)
	}
}
