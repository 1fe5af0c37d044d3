package where

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/testcost"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

var now = time.Date(2026, 10, 8, 15, 0, 0, 0, time.UTC)

// aRun returns a run with a value in each kind of field.
func aRun() *mapping.Run {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(7_000_000, 100) // 7 ms
	return &mapping.Run{
		Run: mapping.RunInfo{
			ID: "4f1d2c00", Name: "results/id-7c1f", Archive: "nightly.tar.gz",
			Start: time.Date(2026, 10, 1, 9, 12, 0, 0, time.UTC), End: time.Date(2026, 10, 1, 9, 22, 0, 0, time.UTC),
			Labels: map[string]string{"release": "reef", "odd.name": "x y", "my rack": "7", "nodes": "12", "build": "20261122171453123"}, Complete: true,
		},
		CBT:      mapping.CBT{Benchmark: "librbdfio", Mode: "randwrite", OpSize: 4096, IODepth: 16, OSDReadAhead: 4096, RunSeconds: 300},
		Config:   mapping.ConfigOf(map[string]any{"pool_profiles": map[string]any{"rbd": map[string]any{"pg_size": 256.0, "a.b": true}}, "list": []any{"one", "two"}}),
		Fio:      mapping.FioInfo{Version: "fio-3.36", Jobs: 8, Options: map[string]string{"ioengine": "rbd", "bs": "4k"}},
		Hosts:    []mapping.RunHost{{Name: "client1"}, {Name: "client2"}},
		Write:    &mapping.Totals{Requests: 100, IOPS: 20480, Bandwidth: 80 << 20, Latency: mapping.NewLatency(h, nil)},
		All:      &mapping.Totals{Requests: 100, IOPS: 20480, Bandwidth: 80 << 20, Latency: mapping.NewLatency(h, nil)},
		Warnings: []string{"clock of client2 is 3 s late"},
		SLA:      []mapping.Verdict{{Rule: "p99 < 5ms"}},
	}
}

// TestMembers: the members that a condition names decide it, so stores need not read others. Each field of a run, and a condition with
// several, has the same values in a run that has only these.
func TestMembers(t *testing.T) {
	run := aRun()
	run.Sections = []mapping.RunSection{{Name: "a", CBT: mapping.CBT{NumJobs: 3}}, {Name: "b", CBT: mapping.CBT{NumJobs: 4}}}
	run.Read, run.Trim, run.Sync, run.Clock.Source, run.Ingested = run.Write, run.Write, run.Write, "user", run.Run.End
	whole, known := new(mapping.Run), 0
	if err := whole.UnmarshalLight(run.AppendLight(nil), mapping.AllMembers); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(Fields(), Lookup("label.release"), Lookup("option.bs"), Lookup("config.list")) {
		c := &Condition{field: f}
		brief, members := new(mapping.Run), c.Members()
		if members == nil {
			continue
		}
		if err := brief.UnmarshalLight(run.AppendLight(nil), mapping.MembersOf(members...)); err != nil {
			t.Fatal(err)
		}
		want := f.Values(whole)
		if known += len(want); !reflect.DeepEqual(f.Values(brief), want) {
			t.Errorf("%s with %v: %v, want %v", f.Name, members, f.Values(brief), want)
		}
		order, err := OrderOf(f.Name)
		if err != nil || order.Members() == nil {
			continue
		}
		brief = new(mapping.Run)
		if err := brief.UnmarshalLight(run.AppendLight(nil), mapping.MembersOf(order.Members()...)); err != nil || order.keyOf(brief) != order.keyOf(whole) {
			t.Errorf("sorted by %s with %v: %v, want %v: %v", f.Name, order.Members(), order.keyOf(brief), order.keyOf(whole), err)
		}
	}
	if known < 80 {
		t.Errorf("only %d values", known)
	}
	for text, want := range map[string][]string{
		"bs=4k or not write.p99>1ms and bs=8k": {"cbt", "sections", "write"}, "": {}, "start>=7d": {"run"}, "state=live and bs=4k": nil, "workload.id=1-a": nil,
	} {
		c, err := Parse(text, now)
		if err != nil || !reflect.DeepEqual(c.Members(), want) {
			t.Errorf("%q: %v, %v", text, c.Members(), err)
		}
	}
}

func TestMatches(t *testing.T) {
	run := aRun()
	for condition, want := range map[string]bool{
		"": true, "  ": true,
		"bs=4k": true, "bs = 4096": true, "bs=4KiB": true, "BS=4k": true, "op_size==4K": true, "cbt.op_size=4k": true, "bs=8k": false, "bs>=4k": true, "bs>4k": false, "bs<1M": true,
		"iodepth in (8, 16)": true, "qd in (8,32)": false, "iodepth!=16": false, "qd != 8": true, "osd_ra = 4M": true, "osd_ra=4096": true, "cbt.osd_ra=4096": true, "osd_ra=4096k": true, "osd_ra = 4": false, "osd_ra<4MiB": false, "osd_ra > 512b": true, "time=5m": true, "runtime < 5m": false,
		"mode=randwrite": true, "rw='randwrite'": true, "mode=RANDWRITE": false, "mode ~ WRITE": true, "mode !~ read": true, "mode in (read, randwrite)": true,
		"write.p99 > 5ms": true, "write.p99 > 5000us": true, "write.p99 > 8ms": false, "p99.9<8ms": true, "p99_9 < 8ms": true, "all.latency.p99_9<8ms": true, "write.latency.max>1s": false,
		"read.p99 < 1s": false, "not read.p99 < 1s": true, "read.p99 != 1s": true, "read.p99": false, "write.p99": true,
		"iops > 20k": true, "iops > 21k": false, "write.iops>=20480/s": true, "bw = 80MiB/s": true, "write.bandwidth<100M": true, "bandwidth > 80M/s": false,
		"label.release=reef": true, "label.release != quincy": true, "label.release": true, "label.branch": false, "not label.branch": true, "run.labels.release=reef": true,
		"label.odd.name = 'x y'": true, "'label.my rack' = 7": true, `"label.my rack" in (7, 8)`: true, "not 'label.my rack' or bs=8k": false, "'bs'=4k": true, `label.odd.name ~ "x"`: true, "label.nodes>=12": true, "label.nodes > 12": false, "label.release>5": false,
		"label.build=20261122171453123": true, "label.build=20261122171453124": false, "label.build != 20261122171453124": true, "label.build > 20261122171400000": true,
		"config.pool_profiles.rbd.pg_size=256": true, "config.pool_profiles.rbd.pg_size < 300": true, "config.pool_profiles.rbd.a.b=true": true, "config.list=two": true, "config.list=three": false, "config.pool_profiles": false,
		"option.ioengine=rbd": true, "option.bs=4096": true, "fio.options.bs=4k": true, "fio~3.36": true, "fio=fio-3.36": true, "jobs=8": true,
		"start >= 2026-10-01": true, "start=2026-10-01": true, "start=2026-10": true, "start = 2026": true, "start>2026-10-01": false, "start<2026-10-01": false, "start <= 2026-10-01": true, "start!=2026-09": true,
		"start >= 7d": false, "start>=8d": true, "start < yesterday": true, "start >= 1w": false, "start>=1mo": true, "start > 1y": true, "end = '2026-10-01 09:22'": true, "start=2026-10-01T09:12:00Z": true, "start=2026-10-01T11:12:00+02:00": true, "start <= 2026-10-01T09:11:59.900Z": false, "start > '2026-10-01 09:11:59.999'": true, "start=2026-10-01T09:12:00.000Z": true, "start<today": true, "start < now": true, "start > 2h": false,
		"duration = 10m": true, "duration > 1h": false, "duration<=600s": true, "duration>9m59s": true,
		"complete": true, "not complete": false, "complete=no": false, "complete = YES": true, "live": false, "live=no": true, "state ~ broken": true, "sla=broken": true, "sla=met": false,
		"host=client2": true, "host=client3": false, "hosts=2": true, "hosts>2": false, "warning~CLOCK": true, "direction=write": true, "direction=read": false, "missing": false, "missing=0": true,
		"archive~nightly and name~7c1f": true, "id ~ 4f1d": true, "id=4f1d": true, "id in (aa, 4F1D)": true, "id=f1d": false, "id!=4f1d": false, "bs=8k or qd=16": true, "bs=8k and qd=16": false, "bs=8k or bs=4k and qd=8": false, "(bs=8k or bs=4k) and qd=16": true,
		"iodepth=1.6e1": true, "requests=1e2": true, "requests < 1M": true, "write.p99 > 5 ms and bs = 4 k": true, "start >= 30 days and start < 2 days": true, "bw > 80MB/s": true, "bw >= 84 MB/s": false, "bs=4KB": false,
		"label.build=2.0261122171453123e16": false, "label.nodes=1.2e1": false,
		"NOT (bs=8k OR bs=16k) And qd=16": true, "not not bs=4k": true, "not bs=4k or qd=16": true,
	} {
		c, err := Parse(condition, now)
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		if got := c.Matches(run); got != want {
			t.Errorf("%s: %v, want %v", condition, got, want)
		}
		if want {
			checkNarrow(t, c, run)
		}
	}
}

// TestUnknownNumbers: an unknown number is not 0.
func TestUnknownNumbers(t *testing.T) {
	run := aRun() // a run of logs without a report
	run.All.Bandwidth, run.Write.Bandwidth = 0, 0
	for _, name := range []string{"bytes", "bandwidth", "write.bytes", "write.bw", "usr_cpu", "sys_cpu", "context_switches", "interval"} {
		value := map[expr.Kind]string{expr.Size: "1k", expr.Bandwidth: "1k", expr.Number: "1", expr.Duration: "1s"}[Lookup(name).Kind]
		for condition, want := range map[string]bool{name + "<" + value: false, name + "=0": false, name + "!=" + value: true, name: false} {
			if c, err := Parse(condition, now); err != nil || c.Matches(run) != want {
				t.Errorf("%s: %v, %v, want %v", condition, !want, err, want)
			}
		}
	}
	run.Fio.UsrCPU = 0.5
	if c, err := Parse("sys_cpu < 1", now); err != nil || !c.Matches(run) {
		t.Error("a report with usr_cpu alone has a sys_cpu of 0", err)
	}
}

// TestOpenBin: a latency in fio's last bin is 17.045651456 s or more. A comparison that needs an upper bound is
// undecided, and so is its opposite.
func TestOpenBin(t *testing.T) {
	run := aRun()
	h := hist.New(hist.Fio3(0))
	h.AddLatency(7_000_000, 90)
	h.AddLatency(20_000_000_000, 10)
	run.Write.Latency = mapping.NewLatency(h, nil)
	const bound = "17045651456ns"
	for condition, want := range map[string]verdict{
		"write.p99 < 30s": undecided, "write.p99 <= 30s": undecided, "write.p99 = 30s": undecided, "write.p99 != 30s": undecided, "write.p99 > 30s": undecided, "write.p99 >= 30s": undecided,
		"write.p99 < 17s": no, "write.p99 <= 17s": no, "write.p99 = 17s": no, "write.p99 != 17s": yes, "write.p99 > 17s": yes, "write.p99 >= 17s": yes,
		"write.p99 < " + bound: no, "write.p99 >= " + bound: yes, "write.p99 <= " + bound: undecided, "write.p99 > " + bound: undecided, "write.p99 = " + bound: undecided,
		"not write.p99 < 30s": undecided, "write.p99 in (5ms, 30s)": undecided, "write.p99 in (5ms, 7s)": no, "write.p99": yes,
		"write.p99 < 30s and bs=4k": undecided, "write.p99 < 30s and bs=8k": no, "write.p99 < 30s or bs=4k": yes, "bs=8k or not write.p99 < 30s": undecided,
		"write.mean < 1s": no, "write.mean < 30s": undecided, "write.p50 < 30s": yes, "p99 < 30s": yes,
	} {
		c, err := Parse(condition, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range []*mapping.Run{run, run.Light()} {
			if c.of(run) != want || c.Matches(run) != (want == yes) || c.Undecided(run) != (want == undecided) {
				t.Errorf("%s: %v, want %v", condition, c.of(run), want)
			}
		}
	}
	if p99 := Lookup("write.p99"); p99.Text(p99.Values(run)[0]) != "≥17.0s" {
		t.Error(p99.Values(run))
	}
}

// TestBetween: what is decided for a number between bounds is true for every number between these.
func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(0, 10)
		low, want, more := number.Draw(t, "low"), number.Draw(t, "want"), number.Draw(t, "more")
		bounds := Between{low, low + rapid.SampledFrom([]float64{more, more + 1, math.Inf(1)}).Draw(t, "width")}
		op := rapid.SampledFrom([]string{"=", "<", "<=", ">", ">="}).Draw(t, "op")
		if got := order(bounds, op, want); got != undecided && got != order(low+more, op, want) {
			t.Fatalf("%v to %v %s %v is %v, and of %v it is not", bounds.Low, bounds.High, op, want, got, low+more)
		}
	})
}

func TestMain(m *testing.M) {
	testcost.Lower()
	m.Run()
}

func TestMistakes(t *testing.T) {
	for condition, want := range map[string]string{
		"bs=4k and":              `column 10: want the name of a field, such as bs or write.p99, found the end`,
		"bs=4k iodepth=16":       `column 7: want and, or, or the end, found "iodepth=16"`,
		"iodpeth=16":             `column 1: no field is called "iodpeth": did you mean iodepth?`,
		"bs=4k and 'label x'=1":  `column 11: no field is called "label x": fio2es help fields lists them; name ~ "label x" searches in names`,
		"randwrite":              `column 1: no field is called "randwrite": fio2es help fields lists them; name ~ randwrite searches in names`,
		"label.=x":               `column 1: no field is called "label.": did you mean label.*?`,
		"bs=":                    `column 4: want a size such as 4k or 1MiB, found the end`,
		"bs = 4q":                `column 6: want a size such as 4k or 1MiB, found "4q"`,
		"p99 > 5":                `column 7: want a latency with its unit, such as 300us or 5ms, found "5"`,
		"p99 > 5 mps":            `column 7: want a latency with its unit, such as 300us or 5ms, found "5"`,
		"start > soon":           `column 9: want a time such as 2026-10-01, 2026-10, 2026-10-01T09:12:00Z, yesterday or 7d (ago) for start, found "soon"`,
		"mode > rand":            `column 8: mode: > is for numbers, and "rand" is none: use =, != or ~`,
		"bs ~ 4":                 `column 6: ~ is for texts, and op_size is a size`,
		"complete > yes":         `column 12: want = yes or = no for complete, found "yes"`,
		"(bs=4k or qd=1":         `column 1: this parenthesis is not closed`,
		"bs in 4k":               `column 7: want ( after in, found "4k"`,
		"bs in (4k 8k)":          `column 11: want , or ) in the list of values, found "8k"`,
		"bs in ()":               `column 8: want a size such as 4k or 1MiB, found ")"`,
		"mode='randwrite":        `column 6: the text that begins here has no closing '`,
		"mode=a)":                `column 7: want and, or, or the end, found ")"`,
		"bs ! 4":                 `column 4: want and, or, or the end, found "!"`,
		"label.é ! 4":            `column 9: want and, or, or the end, found "!"`,
		"qd = 1e400":             `column 6: want a number such as 16 or 1e6, found "1e400"`,
		"start>99999999999999d":  `column 7: want a time such as 2026-10-01, 2026-10, 2026-10-01T09:12:00Z, yesterday or 7d (ago) for start, found "99999999999999d"`,
		strings.Repeat("(", 200): `column 101: more than 100 parts within one another`,
	} {
		_, err := Parse(condition, now)
		var syntax *expr.Error
		if !errors.As(err, &syntax) || err.Error() != want {
			t.Errorf("%s:\n%v, want\n%s", condition, err, want)
		}
	}
}

// TestFields: each field has a unique name, help, an example that can be parsed, and values of its kind if a run has
// it.
func TestFields(t *testing.T) {
	run, seen := aRun(), map[string]bool{}
	for _, f := range Fields() {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if seen[name] {
				t.Errorf("two fields are called %s", name)
			}
			seen[name] = true
		}
		name := strings.Replace(f.Name, "*", "x", 1)
		if f.Help == "" || f.Example == "" || Lookup(name) == nil || Lookup(f.Path) == nil && f.Path != "" && !strings.HasSuffix(f.Path, "*") {
			t.Errorf("%+v", f)
		}
		if _, err := Parse(name+"='"+f.Example+"'", now); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for _, v := range f.Values(run) {
			ok := false
			switch f.Kind {
			case expr.Text:
				_, ok = v.(string)
			case expr.Time:
				_, ok = v.(time.Time)
			case expr.Flag:
				_, ok = v.(bool)
			default:
				_, ok = v.(float64)
			}
			if !ok {
				t.Errorf("%s is a %s, and has %T", f.Name, f.Kind, v)
			}
		}
	}
}

// TestConditionFields: a condition knows which fields it needs.
func TestConditionFields(t *testing.T) {
	c, err := Parse("bs=4k and (qd=1 or not bs=8k) and label.a=b", now)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range c.Fields() {
		paths = append(paths, f.Path)
	}
	if got := strings.Join(paths, " "); got != "cbt.op_size cbt.iodepth run.labels.a" {
		t.Error(got)
	}
	var none *Condition
	if !none.Matches(nil) || none.Fields() != nil || none.String() != "" || c.String() == "" {
		t.Error("a condition that is not there")
	}
}

// FuzzParse: no text makes Parse panic. Mistakes have a place in the text. A condition and its opposite are never
// both met.
func FuzzParse(f *testing.F) {
	f.Add("bs=4k and (iodepth in (16, 32) or not label.release != 'reef') and start >= 2026-10 and write.p99 > 5ms")
	f.Add(`fio.options.x ~ "é" or duration<1h30m or start=7d and complete`)
	run := aRun()
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text, now)
		var syntax *expr.Error
		switch {
		case err == nil && strings.TrimSpace(text) != "":
			not, err := Parse("not ("+text+")", now)
			if c.Matches(run) {
				checkNarrow(t, c, run)
			}
			if err == nil && not.Matches(run) == c.Matches(run) {
				t.Errorf("%q and its inverse are both %v", text, c.Matches(run))
			}
		case err != nil && (!errors.As(err, &syntax) || syntax.Column < 1 || syntax.Column > len(text)+1):
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestSuggest: the last word of a condition is completed with names.
func TestSuggest(t *testing.T) {
	for text, want := range map[string]string{
		"mo": "mode", "bs=4k and iod": "bs=4k and iodepth", "not (label.r": "", "(lab": "(label.", "qd=1": "", "bs=4k and q": "bs=4k and qd", "write.p99_9": "write.p99_9 write.p99_99",
	} {
		var got []string
		for _, s := range Suggest(text) {
			got = append(got, s.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestDocumentFields: conditions can name each field of run documents, with the same type, except those that are of
// no use for finding runs.
func TestDocumentFields(t *testing.T) {
	types := map[string][]expr.Kind{
		"keyword": {expr.Text}, "text": {expr.Text}, "flattened": {expr.Text}, "boolean": {expr.Flag}, "date": {expr.Time},
		"long": {expr.Number, expr.Count, expr.Size, expr.KiB, expr.Duration}, "double": {expr.Number, expr.Rate, expr.Bandwidth, expr.Latency},
	}
	without := regexp.MustCompile(`^(@timestamp|summary|run\.(link|compare)|run\.ingest|run\.edited|run\.compacted\.(from|interval_ms)|workload\.all|removed\..*|shared\..*|documents\..*|changes\..*|source\..*|sla\..*|placed|no_windows|weighting|clock\.error_ms|hosts\.(name|jobs|start|skew_ms|clock|clock_error_ms|clock_offset_ms|(read|write|trim|sync)\..*)|` +
		`.*\.(means|sums|fio|bounds)\..*|.*\.(duration_ms|exact|histogram|layout|stddev|keyword)|sync\.(bytes|iops|bandwidth))$`)
	for path, kind := range templates.RunFields() {
		name := path
		if kind == "flattened" || kind == "object" {
			name, kind = path+".x", "flattened"
		}
		f := Lookup(name)
		if f == nil {
			if !without.MatchString(path) {
				t.Errorf("no field for %s, a %s", path, kind)
			}
			continue
		}
		if !slices.Contains(types[kind], f.Kind) {
			t.Errorf("%s is a %s in documents, and a %s here", path, kind, f.Kind)
		}
	}
	for _, f := range Fields() {
		path := strings.TrimSuffix(f.Path, ".*")
		if _, ok := templates.RunFields()[path]; !ok && path != "" && path != "run.labels" {
			t.Errorf("documents have no %s", path)
		}
	}
}

// TestNarrow: what a store can look up for a condition.
func TestNarrow(t *testing.T) {
	tooLong := "mode='" + longText + "'"
	for condition, want := range map[string]string{
		"": "", "live or bs=4k": "", "complete": "", "not bs=4k": "", "bs != 4k": "", "mode ~ rand": "", "note=switch": "", "warning=clock": "", "config.x=y": "", "write.p99>5ms": "",
		"state=live": "", "id=4f1d": "", "workload.name=x": "", "interval=1s": "", "jobs=9007199254740993": "", "mode=''": "", tooLong: "", "label.nodes=12": "", "label.nodes>12": "", "host=4k": "",
		"bs=4k": "cbt.op_size=4096", "label.release=reef": "run.labels.release=reef", "option.bs=4kb_": "fio.options.bs=4kb_", "complete=no": "run.complete=false", "osd_ra>4M": "cbt.osd_ra>4096", "time<=5m": "cbt.time<=300",
		"label.build=20261122171453123": "run.labels.build=20261122171453123", "host=client1": "run.hosts=client1",
		"bs in (4k, 8k) and qd>=16": "cbt.op_size=4096|cbt.op_size=8192 cbt.iodepth>=16", "(bs=4k and qd=1) or host=a": "cbt.op_size=4096|run.hosts=a", "bs=4k or note ~ x": "", "not (bs=4k and qd=1)": "",
		"end >= 2026-10-01": "run.end 2026-10-01T00:00:00Z..", "ingested = 2026-10-01": "ingested 2026-10-01T00:00:00Z..2026-10-02T00:00:00Z",
		"start >= 2026-10-01": "run.start 2026-10-01T00:00:00Z..", "start > 2026-10-01": "run.start 2026-10-02T00:00:00Z..", "start < 2026-10": "run.start ..2026-10-01T00:00:00Z", "start <= 2026-10": "run.start ..2026-11-01T00:00:00Z",
		"start = 2026-10-01": "run.start 2026-10-01T00:00:00Z..2026-10-02T00:00:00Z", "start != 2026-10-01": "", "start >= 7d and start < yesterday": "run.start 2026-10-01T15:00:00Z.. run.start ..2026-10-07T00:00:00Z",
		"live": "live", "live=yes": "live", "live and bs=4k": "cbt.op_size=4096 live", "live != no": "", "not live": "", "live=no": "", "bs=4k and not (mode=read and start > 2026)": "cbt.op_size=4096",
	} {
		c, err := Parse(condition, now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, narrowed(c)); diff != "" {
			t.Errorf("%s: %s", condition, diff)
		}
	}
}

var longText = strings.Repeat("a", 1001)

func narrowed(c *Condition) string {
	var parts []string
	text := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(time.RFC3339)
	}
	for _, list := range c.Tests() {
		var either []string
		for _, t := range list {
			if t.Value == nil {
				either = append(either, t.Field+" "+text(t.From)+".."+text(t.To))
			} else {
				either = append(either, t.Field+t.Op+fmt.Sprint(t.Value))
			}
		}
		parts = append(parts, strings.Join(either, "|"))
	}
	if c.Live() {
		parts = append(parts, "live")
	}
	return strings.Join(parts, " ")
}

// checkNarrow checks that a run that meets a condition, or may meet it, has the values that a store looks up for it.
func checkNarrow(t interface{ Errorf(string, ...any) }, c *Condition, run *mapping.Run) {
	if !narrowFinds(c, run) {
		t.Errorf("%s: a run is not looked up: %+v", c, c.Tests())
	}
	if c.Live() && !run.Run.Live() {
		t.Errorf("%s: a run that is not live is not looked up", c)
	}
}

func TestParts(t *testing.T) {
	for text, want := range map[string][]string{
		"":      nil,
		"bs=4k": {"bs=4k"},
		" bs = 4k  and  (qd in (1, 2) or live) and not note ~ 'a and b'": {"bs = 4k", "(qd in (1, 2) or live)", "not note ~ 'a and b'"},
		"bs=4k or qd=1":                    {"(bs=4k or qd=1)"},
		"(bs=4k or qd=1)":                  {"(bs=4k or qd=1)"},
		"(live) or (qd = 1)":               {"((live) or (qd = 1))"},
		"(bs=4k and qd=1)":                 {"bs=4k", "qd=1"},
		"label.ä='x y' AND qd=1 and qd!=2": {"label.ä='x y'", "qd=1", "qd!=2"},
	} {
		c, err := Parse(text, now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range c.Parts() {
			got = append(got, p.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestAll: a run meets a joined condition if it meets each part, and parsing the text of the joined condition gives
// the same.
func TestAll(t *testing.T) {
	texts := []string{"", "qd=1", "qd=1 or bs=4k", "(qd=1) or (bs=4k)", "not (qd=1 and bs=4k)", "qd in (1, 2) and not live", "(bs=4k or qd = 2) and qd<4"}
	rapid.Check(t, func(t *rapid.T) {
		var list []*Condition
		for range rapid.IntRange(0, 3).Draw(t, "number") {
			c, err := Parse(rapid.SampledFrom(texts).Draw(t, "condition"), now)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, c)
		}
		all := All(append(list, nil)...)
		again, err := Parse(all.String(), now)
		if err != nil {
			t.Fatalf("%s: %v", all, err)
		}
		for _, run := range []*mapping.Run{
			{CBT: mapping.CBT{IODepth: 1}}, {CBT: mapping.CBT{IODepth: 2}}, {CBT: mapping.CBT{IODepth: 1, OpSize: 4096}}, {CBT: mapping.CBT{OpSize: 4096}},
		} {
			want := !slices.ContainsFunc(list, func(c *Condition) bool { return !c.Matches(run) })
			if got := all.Matches(run); got != want || again.Matches(run) != want {
				t.Fatalf("%s: %v and %v, want %v of %+v", all, got, again.Matches(run), want, run.CBT)
			}
		}
	})
}
