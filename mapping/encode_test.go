package mapping_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/mapping"
)

// decode is strict: a field that the types do not have is a fault of the encoder.
func decode(t interface{ Fatalf(string, ...any) }, text []byte, into any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
}

func TestIntervalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, got := genInterval(t), new(mapping.Interval)
		text := want.AppendJSON([]byte("before"))[len("before"):]
		decode(t, text, got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("read back (-want +got):\n%s", diff)
		}
		if again := got.AppendJSON(nil); !bytes.Equal(text, again) {
			t.Fatalf("written again:\n%s\n%s", text, again)
		}
	})
}

func TestRunRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genRun(t)
		got := new(mapping.Run)
		decodeRun(t, want.AppendJSON(nil), got)
		if diff := cmp.Diff(want, got, decoded); diff != "" {
			t.Fatalf("read back (-want +got):\n%s", diff)
		}
	})
}

// decoded compares configurations by what they say, because encoding/json writes < and & in another way.
var decoded = cmp.Transformer("decoded", func(config jsontext.Value) (value any) {
	_ = json.Unmarshal(config, &value)
	return value
})

// decodeRun is decode for run documents, which say some things twice: that these agree
// with the rest is looked at, and the rest is read.
func decodeRun(t interface{ Fatalf(string, ...any) }, text []byte, into *mapping.Run) {
	var all map[string]json.RawMessage
	decode(t, text, &all)
	take := func(object map[string]json.RawMessage, name string, v any) {
		decode(t, object[name], v)
		delete(object, name)
	}
	inner := func(name, field string, v any) {
		var object map[string]json.RawMessage
		decode(t, all[name], &object)
		take(object, field, v)
		all[name], _ = json.Marshal(object)
	}
	var start, link, compare string
	var directions, hosts, workloads []string
	take(all, "@timestamp", &start)
	inner("run", "link", &link)
	inner("run", "compare", &compare)
	if strings.Contains(string(all["run"]), `"hosts":[`) {
		inner("run", "hosts", &hosts)
	}
	if strings.Contains(string(all["workload"]), `"all":[`) {
		inner("workload", "all", &workloads)
	}
	inner("fio", "direction", &directions)
	fields := map[string]float64{} // of percentiles that fio lists, by totals and field
	for _, name := range append(mapping.Directions[:], mapping.AllDirections) {
		var totals, fio map[string]json.RawMessage
		if _ = json.Unmarshal(all[name], &totals); totals["fio"] == nil {
			continue
		}
		decode(t, totals["fio"], &fio)
		for field, text := range fio {
			if field[0] == 'p' && field != "percentiles" {
				var us float64
				decode(t, text, &us)
				fields[name+"."+field] = us
				delete(fio, field)
			}
		}
		totals["fio"], _ = json.Marshal(fio)
		all[name], _ = json.Marshal(totals)
	}
	rest, _ := json.Marshal(all)
	decode(t, rest, into)
	for i, total := range []*mapping.Totals{into.Read, into.Write, into.Trim, into.Sync, into.All} {
		name := append(mapping.Directions[:], mapping.AllDirections)[i]
		for _, p := range mapping.Percentiles {
			if total == nil || total.Fio == nil {
				continue
			}
			want, ok := total.Fio.Figure(p.Field)
			if got, has := fields[name+"."+p.Field]; got != want || has != ok {
				t.Fatalf("%s.fio.%s is %v, want %v, %v", name, p.Field, got, want, ok)
			}
		}
	}
	if start != into.Run.Start.Format("2006-01-02T15:04:05.000Z") || link != into.Run.Link() || compare != into.CompareLink() {
		t.Fatalf("@timestamp is %s, run.link %s, run.compare %s", start, link, compare)
	}
	if !slices.Equal(workloads, into.Workloads()) {
		t.Fatalf("workload.all is %q, want %q", workloads, into.Workloads())
	}
	for i := range into.Hosts {
		if name := into.Hosts[i].Name; name != "" && !slices.Contains(hosts, name) {
			t.Fatalf("run.hosts %q lacks %q", hosts, name)
		}
	}
	for i, total := range []*mapping.Totals{into.Read, into.Write, into.Trim, into.Sync} {
		if name := mapping.Directions[i]; slices.Contains(directions, name) != (total != nil) {
			t.Fatalf("fio.direction is %q", directions)
		}
	}
}

func TestRunZeroAndEmpty(t *testing.T) {
	for _, r := range []mapping.Run{{}, {Config: mapping.ConfigOf(map[string]any{}), Warnings: []string{}, All: &mapping.Totals{DurationMS: 1}}} {
		var got mapping.Run
		if err := json.Unmarshal(r.AppendJSON(nil), &got); err != nil {
			t.Fatal(err)
		}
		if (got.All == nil) != (r.All == nil) || got.Config != nil {
			t.Errorf("read back %+v", got)
		}
	}
}

func TestMarshalJSON(t *testing.T) {
	d, r := sample(5), sampleRun()
	for _, c := range []struct {
		value any
		want  []byte
	}{{d, d.AppendJSON(nil)}, {*d, d.AppendJSON(nil)}} {
		if got, err := json.Marshal(c.value); err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("json.Marshal(%T) = %s, %v", c.value, got, err)
		}
	}
	// encoding/json escapes < and & in what a marshaller gives: the same value.
	got, err := json.Marshal(*r)
	if err != nil {
		t.Fatal(err)
	}
	var back mapping.Run
	decodeRun(t, got, &back)
	if diff := cmp.Diff(r, &back, decoded); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// TestUnknownRate: a rate of averages that is not known is absent, and other rates of 0 are not.
func TestUnknownRate(t *testing.T) {
	for _, weighting := range []string{mapping.Averaged, "inflight"} {
		d := sample(0)
		d.IOPS, d.Weighting = 0, weighting
		if text := string(d.AppendJSON(nil)); strings.Contains(text, `"iops"`) != (weighting == "inflight") {
			t.Errorf("%s: %s", weighting, text)
		}
	}
}

func TestGolden(t *testing.T) {
	empty := sample(0)
	empty.Host, empty.Level, empty.Fio.Job, empty.IOPS = mapping.HostRef{}, mapping.Cluster, "", 1.0/3
	for name, text := range map[string][]byte{
		"interval.json": sample(12).AppendJSON(nil),
		"empty.json":    empty.AppendJSON(nil),
		"run.json":      sampleRun().AppendJSON(nil),
		"light.json":    sampleRun().Light().AppendJSON(nil),
	} {
		path := filepath.Join("testdata", name)
		golden.File(t, path, string(text)+"\n")
	}
}

// TestNoSettings: documents of runs without settings have no cbt, and those that CBT did not make have no iteration.
func TestNoSettings(t *testing.T) {
	d, r := sample(1), sampleRun()
	d.CBT, r.CBT = mapping.CBT{}, mapping.CBT{}
	for _, text := range [][]byte{d.AppendJSON(nil), r.AppendJSON(nil)} {
		if bytes.Contains(text, []byte(`"cbt"`)) {
			t.Errorf("%s", text)
		}
	}
	for iteration, want := range map[*int]string{nil: `"cbt":{"mode":"read"},`, new(0): `"cbt":{"mode":"read","iteration":0},`} {
		d.CBT = mapping.CBT{Mode: "read", Iteration: iteration}
		if text := d.AppendJSON(nil); !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: want %s", text, want)
		}
	}
}

func TestNumbersAreExact(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, f float64) {
		d := mapping.Interval{IOPS: f}
		var got mapping.Interval
		decode(t, d.AppendJSON(nil), &got)
		if got.IOPS != f {
			t.Fatalf("%v came back as %v from %s", f, got.IOPS, d.AppendJSON(nil))
		}
	}
	for _, f := range []float64{
		0, 0.5, 0.0635, 0.00005, 17179869.1835, 1.0 / 3, 1e-7, 5e-324, 1e20, 1e21, math.MaxFloat64,
		1 << 53, 900719925474.0991, 900719925474.0992, 0.1 + 0.2, -2.5,
	} {
		check(t, f)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 1e12)).Draw(t, "f"))
	})
	var d mapping.Interval
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		d.IOPS = f
		if text := d.AppendJSON(nil); !bytes.Contains(text, []byte(`"iops":null`)) || !json.Valid(text) {
			t.Errorf("%v: %s", f, text)
		}
	}
}

func TestTextsAreJSON(t *testing.T) {
	for _, s := range []string{"", "a\"b\\c", "\x00\n\t\x1f\x7f", "läßt 日本 \u2028", "bad \xff\xc3 utf-8", "<&>"} {
		var got mapping.Interval
		d := mapping.Interval{Weighting: s}
		decode(t, d.AppendJSON(nil), &got)
		if want := string([]rune(s)); got.Weighting != want {
			t.Errorf("%q came back as %q", s, got.Weighting)
		}
	}
}

func TestConfigTakesAnything(t *testing.T) {
	r := mapping.Run{Config: mapping.ConfigOf(map[string]any{
		"yaml": map[any]any{1: "one", true: []any{2, uint64(math.MaxUint64), math.NaN()}},
		"odd":  func() {}, "inf": float32(1.5), "when": start, "nil": nil,
	})}
	text := r.AppendJSON(nil)
	if !json.Valid(text) {
		t.Fatalf("not JSON: %s", text)
	}
	if want := []byte(`"yaml":{"1":"one","true":[2,18446744073709551615,null]}`); !bytes.Contains(text, want) {
		t.Errorf("%s is not in %s", want, text)
	}
}

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

// TestPending: a document that is marked later is the same, for any names in it.
func TestPending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &mapping.Interval{
			Level: mapping.Job,
			Run:   mapping.RunRef{ID: rapid.String().Draw(t, "id"), Name: rapid.SampledFrom([]string{"", `"run":{`, `{"run":{"x":1}`}).Draw(t, "name"), Ingest: "1"},
			Host:  mapping.HostRef{Name: rapid.String().Draw(t, "host")},
		}
		plain := string(d.AppendJSON(nil))
		d.Run.Pending = true
		marked := string(d.AppendJSON(nil))
		if got := string(mapping.MarkPending([]byte(plain))); got != marked {
			t.Fatalf("%s\nis not %s", got, marked)
		}
		var read struct{ Run map[string]any }
		if err := json.Unmarshal([]byte(marked), &read); err != nil || read.Run["pending"] != true || read.Run["name"] != name(d) {
			t.Fatalf("%v, %v", read, err)
		}
	})
}

func name(d *mapping.Interval) any {
	if d.Run.Name == "" {
		return nil
	}
	return d.Run.Name
}

// TestFioPercentileFields: dashboards find a percentile that fio lists by its field.
func TestFioPercentileFields(t *testing.T) {
	list := []mapping.FioPercentile{{Rank: 50, Value: 3.5}, {Rank: 99.9, Value: 8}, {Rank: 30, Value: 2}}
	run := &mapping.Run{Read: &mapping.Totals{Fio: &mapping.FioLatency{Min: 1, Mean: 4, Max: 9, StdDev: 2, Percentiles: list}}}
	const want = `"fio":{"min":1,"mean":4,"max":9,"stddev":2,"percentiles":[{"rank":50,"value":3.5},{"rank":99.9,"value":8},{"rank":30,"value":2}],"p50":3.5,"p99_9":8}`
	decodeRun(t, run.AppendJSON(nil), new(mapping.Run))
	if got := string(run.AppendJSON(nil)); !strings.Contains(got, want) {
		t.Errorf("%s, want %s in it", got, want)
	}
}
