package where

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// TestNarrowFindsAll: a store that makes the tests of a condition finds every run that meets it or may meet it. The tests are made here as
// Elasticsearch makes them.
func TestNarrowFindsAll(t *testing.T) {
	met, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.SampledFrom(words), 2, 3).Draw(t, "words") // few, so that the run has those of the condition
		run := drawnRun(t, some)
		c, err := Parse(drawnText(t, some, 3), now)
		switch {
		case err != nil:
			t.Skip(err)
		case c.of(run) != no:
			met++
			checkNarrow(t, c, run)
		case !narrowFinds(c, run):
			left++
		}
	})
	if met == 0 || left == 0 {
		t.Errorf("%d runs meet their condition, and %d others are not looked up", met, left)
	}
}

var words = []string{
	"", "reef", "Reef", "4k", "4096", "4KiB", "007", "1e3", "a b", `a\'b`, "é", "19.2.0", "7", "4f1d", "*", "yes", "true", "20261122171453123", strings.Repeat("é", 500), strings.Repeat("é", 501), strings.Repeat("long", 300), // beyond what is indexed
}

var moments = []string{"2026-10-01", "2026-10-01T09:12:00Z", "2026-10-01T09:12:00.001Z", "2026-10", "2026", "7d", "8d", "1970", "0000", "9999", "now"}

func drawnRun(t *rapid.T, words []string) *mapping.Run {
	word := rapid.SampledFrom(words)
	number := rapid.SampledFrom([]int64{0, 1, 16, 300, 512, 4096, 4 << 20, maxExact - 1, maxExact, maxExact + 1})
	at := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.IntRange(0, 5).Draw(t, "is unknown") == 0 {
			return time.Time{}
		}
		return aRun().Run.Start.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "ms")) * time.Millisecond)
	})
	settings := func() mapping.CBT {
		return mapping.CBT{Mode: word.Draw(t, "mode"), OpSize: number.Draw(t, "size"), IODepth: number.Draw(t, "depth"), OSDReadAhead: number.Draw(t, "ra"), RunSeconds: number.Draw(t, "time")}
	}
	run := aRun()
	run.Config = mapping.ConfigOf(map[string]any{"list": []any{word.Draw(t, "config"), 7}})
	run.Run.Labels, run.Fio.Options = map[string]string{}, map[string]string{}
	for _, name := range []string{"a", "a.b", "*"} {
		if rapid.Bool().Draw(t, "has label") {
			run.Run.Labels[name], run.Fio.Options[name] = word.Draw(t, "label"), word.Draw(t, "option")
		}
	}
	run.Run.Start, run.Run.End, run.Ingested, run.Run.Compacted.At = at.Draw(t, "start"), at.Draw(t, "end"), at.Draw(t, "ingested"), at.Draw(t, "compacted")
	run.Run.Complete, run.Run.Partial, run.Fio.Jobs = rapid.Bool().Draw(t, "complete"), rapid.Bool().Draw(t, "partial"), rapid.IntRange(0, 2).Draw(t, "jobs")
	run.Warnings, run.Run.Note = []string{word.Draw(t, "warning")}, word.Draw(t, "note")
	run.Missing.Requests, run.CBT = number.Draw(t, "missing"), settings()
	run.CBT.Iteration = rapid.SampledFrom([]*int{nil, new(0), new(1)}).Draw(t, "iteration")
	run.Hosts[0].Name, run.Hosts[1].Name = word.Draw(t, "host"), word.Draw(t, "host")
	for range rapid.IntRange(0, 2).Draw(t, "sections") {
		run.Sections = append(run.Sections, mapping.RunSection{CBT: settings()})
	}
	if rapid.Bool().Draw(t, "is bound") {
		run.All.Latency.P99 = 17_045_651.456
	}
	run, err := decoded(run)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// decoded returns a run as stores return it.
func decoded(run *mapping.Run) (*mapping.Run, error) {
	again := new(mapping.Run)
	return again, json.Unmarshal(run.AppendJSON(nil), again)
}

func drawnText(t *rapid.T, words []string, depth int) string {
	pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "word") }
	if depth > 0 && rapid.Bool().Draw(t, "is joined") {
		a, b := drawnText(t, words, depth-1), drawnText(t, words, depth-1)
		return pick(a+" and "+b, a+" or "+b, "not ("+a+")", "("+a+") and "+b)
	}
	op := pick("=", "=", "!=", "<", "<=", ">", ">=")
	quoted := func() string { return `"` + pick(words...) + `"` }
	switch pick("text", "text", "number", "time", "rest") {
	case "text":
		name := pick("mode", "label.a", "label.a.b", "'label.*'", "option.a", "'option.*'", "host", "fio", "note", "warning", "id", "config.list")
		return name + pick(op+quoted(), " in ("+quoted()+", "+quoted()+")", "~"+quoted(), "")
	case "number":
		return pick("bs", "qd", "iteration", "jobs", "missing", "osd_ra", "stage") + op + pick("0", "1", "2", "16", "0.5", "512", "4096", "9007199254740991", "9007199254740992", "9007199254740993", "1e300", "-1")
	case "time":
		return pick("start", "end", "ingested", "compacted") + op + pick(moments...)
	}
	return pick("complete", "complete=no", "partial=no", "live", "p99<30s", "p99>1ms", "time=5m", "duration>1s")
}

// narrowFinds reports whether a store that makes the tests of a condition finds a run.
func narrowFinds(c *Condition, run *mapping.Run) bool {
	doc := documentOf(run)
	return !slices.ContainsFunc(c.Tests(), func(list []mapping.FieldTest) bool {
		return !slices.ContainsFunc(list, func(one mapping.FieldTest) bool { return passes(doc, one) })
	})
}

var types = sync.OnceValue(templates.RunFields)

// documentOf returns the fields of a run document that Elasticsearch indexes.
func documentOf(run *mapping.Run) map[string][]any {
	fields := map[string][]any{}
	var add func(path string, value any)
	add = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, one := range v {
				add(strings.TrimPrefix(path+"."+name, "."), one)
			}
		case []any:
			for _, one := range v {
				add(path, one)
			}
		case string:
			if len([]rune(v)) > 1024 { // it is ignored
				return
			}
			if types()[path] == "text" { // it has words, and no value
				value = nil
			}
			fields[path] = append(fields[path], value)
		default:
			fields[path] = append(fields[path], v)
		}
	}
	d, all := json.NewDecoder(bytes.NewReader(run.AppendJSON(nil))), map[string]any{}
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		panic(err)
	}
	delete(all, "sections") // not enabled
	add("", all)
	return fields
}

// passes makes a test as Elasticsearch does: documents without the field pass.
func passes(fields map[string][]any, test mapping.FieldTest) bool {
	values := fields[test.Field]
	return len(values) == 0 || slices.ContainsFunc(values, func(v any) bool {
		switch v := v.(type) {
		case json.Number:
			n, err := v.Int64()
			want, isNumber := test.Value.(float64)
			if err != nil || !isNumber {
				return false
			}
			order := cmp.Compare(n, int64(want))
			if order == 0 && want != float64(int64(want)) { // the part after the point
				order = cmp.Compare(0, want-float64(int64(want)))
			}
			return inOrder(order, test.Op)
		case string:
			if test.Value == nil {
				at, err := time.Parse(time.RFC3339, v)
				return err == nil && (test.From.IsZero() || !at.Before(test.From)) && (test.To.IsZero() || at.Before(test.To))
			}
			return test.Op == "=" && v == test.Value
		}
		return v != nil && test.Op == "=" && v == test.Value
	})
}
