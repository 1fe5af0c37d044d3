package where

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/mapping"
)

// Field is a property of runs that conditions can name.
type Field struct {
	Name    string // name in conditions
	Aliases []string
	Path    string // path in documents; empty if the value is computed from other fields
	Kind    expr.Kind
	Help    string // description
	Example string // example of a value

	values func(*mapping.Run) []any
	ofName func(r *mapping.Run, name string) []any // values of one name, for fields with many names
}

// Values returns the values that a run has in the field: strings, bools, times, or float64 and [AtLeast] in the unit of
// documents. It returns none if the run lacks the field, and several for a list.
func (f *Field) Values(run *mapping.Run) []any { return f.values(run) }

// Text returns a value of the field for people.
func (f *Field) Text(value any) string {
	switch v := value.(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case time.Time:
		return v.UTC().Format(time.DateTime)
	case AtLeast:
		return facts.KindText(f.Kind, float64(v), true)
	case float64:
		return facts.KindText(f.Kind, v, false)
	}
	return value.(string)
}

// Fields are all fields, in the order of the reference. A name that ends in ".*" stands for any name in that place.
var Fields = slices.Concat(runFields, settingFields(), fioFields, totalsFields())

var runFields = []*Field{
	text("id", "run.id", "the run's id", "4f1d2c", func(r *mapping.Run) string { return r.Run.ID }),
	text("name", "run.name", "its name", "id-7c1f", func(r *mapping.Run) string { return r.Run.Name }),
	text("archive", "run.archive", "the archive or folder that it came from", "nightly.tar.gz", func(r *mapping.Run) string { return r.Run.Archive }),
	text("path", "run.path", "its folder in the archive", "results/00000000", func(r *mapping.Run) string { return r.Run.Path }),
	moment("start", "run.start", "when it started", func(r *mapping.Run) time.Time { return r.Run.Start }),
	moment("end", "run.end", "when it ended", func(r *mapping.Run) time.Time { return r.Run.End }),
	number("duration", "", expr.Duration, "how long it took", "10m", func(r *mapping.Run) float64 { return r.Run.End.Sub(r.Run.Start).Seconds() }),
	flag("complete", "run.complete", "whether it is over and lacks nothing", func(r *mapping.Run) bool { return r.Run.Complete }),
	flag("live", "", "whether run or follow is storing it", func(r *mapping.Run) bool { return r.Run.Live() }),
	{Name: "state", Help: "what is wrong or unfinished: live, incomplete, no windows, sla broken", Example: "incomplete", values: func(r *mapping.Run) []any {
		words, _ := r.State()
		return anys(words)
	}},
	mapField("label.*", "run.labels.*", "a label", "label.release=reef", func(r *mapping.Run, name string) []any {
		if v, ok := r.Run.Labels[name]; ok {
			return []any{v}
		}
		return nil
	}),
	text("note", "run.note", "what people wrote about it (fio2es note)", "switch", func(r *mapping.Run) string { return r.Run.Note }),
	moment("ingested", "ingested", "when it was stored", func(r *mapping.Run) time.Time { return r.Ingested }),
	text("fio2es", "fio2es.version", "the version of fio2es that read its files", "v1.2.3", func(r *mapping.Run) string { return r.Program.Version }),
}

var fioFields = []*Field{
	mapField("config.*", "config.*", "a setting of CBT's configuration", "config.pool_profiles.rbd.pg_size=256", func(r *mapping.Run, name string) []any {
		return inConfig(r.Config, name)
	}),
	mapField("option.*", "fio.options.*", "an option of fio", "option.ioengine=libaio", func(r *mapping.Run, name string) []any {
		if v, ok := r.Fio.Options[name]; ok {
			return []any{v}
		}
		return nil
	}),
	text("fio", "fio.version", "fio's version", "fio-3.36", func(r *mapping.Run) string { return r.Fio.Version }),
	number("jobs", "fio.jobs", expr.Number, "fio's jobs, on all hosts", "16", func(r *mapping.Run) float64 { return float64(r.Fio.Jobs) }),
	cpu("usr_cpu", "percent of a CPU in user mode, mean of the jobs", func(r *mapping.Run) float64 { return r.Fio.UsrCPU }),
	cpu("sys_cpu", "percent of a CPU in the kernel, mean of the jobs", func(r *mapping.Run) float64 { return r.Fio.SysCPU }),
	{Name: "direction", Path: "fio.direction", Help: "read, write, trim: those that it has", Example: "write", values: func(r *mapping.Run) (list []any) {
		for _, d := range r.ByDirection() {
			list = append(list, d.Direction)
		}
		return list
	}},
	{Name: "host", Path: "hosts.name", Help: "the name of one of its hosts", Example: "client1", values: func(r *mapping.Run) (list []any) {
		for _, h := range r.Hosts {
			list = append(list, h.Name)
		}
		return list
	}},
	number("hosts", "", expr.Number, "how many hosts it has", "8", func(r *mapping.Run) float64 { return float64(len(r.Hosts)) }),
	text("clock", "clock.source", "where its times come from: log_unix_epoch, job_start, report, user (the setting start) or mtime", "mtime", func(r *mapping.Run) string { return r.Clock.Source }),
	{
		Name: "interval", Path: "interval_ms", Kind: expr.Duration, Help: "the length of its windows", Example: "1s",
		values: func(r *mapping.Run) []any {
			if r.IntervalMS == 0 { // not known
				return nil
			}
			return []any{float64(r.IntervalMS) / 1000}
		},
	},
	moment("compacted", "run.compacted.at", "when its windows were joined to longer ones", func(r *mapping.Run) time.Time { return r.Run.Compacted.At }),
	{Name: "level", Path: "levels", Help: "cluster, host, job: of its interval documents", Example: "host", values: func(r *mapping.Run) (list []any) {
		for _, l := range r.Levels {
			list = append(list, l.String())
		}
		return list
	}},
	number("recovered", "recovered.requests", expr.Count, "requests recovered from fio's report", "0", func(r *mapping.Run) float64 { return float64(r.Recovered.Requests) }),
	number("missing", "missing.requests", expr.Count, "requests that are in no window", "0", func(r *mapping.Run) float64 { return float64(r.Missing.Requests) }),
	{Name: "warning", Path: "warnings", Help: "a warning", Example: "clock", values: func(r *mapping.Run) []any { return anys(r.Warnings) }},
	{Name: "sla", Help: "met or broken: its objectives", Example: "broken", values: func(r *mapping.Run) []any {
		if len(r.SLA) == 0 {
			return nil
		}
		if slices.ContainsFunc(r.SLA, func(v mapping.Verdict) bool { return !v.Holds }) {
			return []any{"broken"}
		}
		return []any{"met"}
	}},
}

func anys(list []string) (out []any) {
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

func text(name, path, help, example string, of func(*mapping.Run) string) *Field {
	return &Field{Name: name, Path: path, Help: help, Example: example, values: func(r *mapping.Run) []any {
		if s := of(r); s != "" {
			return []any{s}
		}
		return nil
	}}
}

func number(name, path string, kind expr.Kind, help, example string, of func(*mapping.Run) float64) *Field {
	return &Field{Name: name, Path: path, Kind: kind, Help: help, Example: example, values: func(r *mapping.Run) []any { return []any{of(r)} }}
}

// cpu returns a field for a share of processor time. A report of fio has the shares of user and system, and they are
// not both 0.
func cpu(name, help string, of func(*mapping.Run) float64) *Field {
	return &Field{Name: name, Path: "fio." + name, Kind: expr.Number, Help: help, Example: "80", values: func(r *mapping.Run) []any {
		if r.Fio.UsrCPU == 0 && r.Fio.SysCPU == 0 {
			return nil
		}
		return []any{of(r)}
	}}
}

func flag(name, path, help string, of func(*mapping.Run) bool) *Field {
	return &Field{Name: name, Path: path, Kind: expr.Flag, Help: help, Example: "yes", values: func(r *mapping.Run) []any { return []any{of(r)} }}
}

func moment(name, path, help string, of func(*mapping.Run) time.Time) *Field {
	return &Field{Name: name, Path: path, Kind: expr.Time, Help: help, Example: "2026-10", values: func(r *mapping.Run) []any {
		if t := of(r); t.Year() >= 1970 {
			return []any{t}
		}
		return nil
	}}
}

// mapField returns a field for each name of a map. [Lookup] makes the field of one name.
func mapField(name, path, help, example string, of func(r *mapping.Run, name string) []any) *Field {
	_, value, _ := strings.Cut(example, "=")
	return &Field{Name: name, Path: path, Help: help, Example: value, ofName: of, values: func(*mapping.Run) []any { return nil }}
}

// settingFields returns the fields of the benchmark's settings.
func settingFields() (list []*Field) {
	for _, c := range facts.Settings {
		f := &Field{Name: c.Name, Path: "cbt." + c.Name, Kind: c.Kind, Help: c.Help, Example: c.Example, values: func(r *mapping.Run) []any {
			switch v := c.Value(r).(type) {
			case string:
				return []any{v}
			case int:
				return []any{float64(v)}
			case int64:
				return []any{float64(v)}
			}
			return nil
		}}
		if c.Alias != "" {
			f.Aliases = []string{c.Alias}
		}
		list = append(list, f)
	}
	return list
}

// totalsFields returns the fields of all requests of a run, and of the requests of each direction.
func totalsFields() (list []*Field) {
	examples := map[string]string{"requests": "1e6", "bytes": "100GiB", "iops": "20k", "bandwidth": "100MiB/s"}
	helps := map[string]string{"requests": "number", "iops": "rate"}
	add := func(prefix, path, whose string, of func(*mapping.Run) *mapping.Totals) {
		for i := range facts.Figures {
			one := &facts.Figures[i]
			f := &Field{
				Name: prefix + one.Name, Path: path + "." + one.Name, Kind: one.Kind,
				Help: cmp.Or(helps[one.Name], one.Text) + " of " + whose, Example: cmp.Or(examples[one.Name], "5ms"),
				values: func(r *mapping.Run) []any {
					t := of(r)
					if t == nil {
						return nil
					}
					switch v, isBound := one.Of(t); {
					case math.IsNaN(v):
						return nil
					case isBound:
						return []any{AtLeast(v)}
					default:
						return []any{v}
					}
				},
			}
			if one.Kind == expr.Latency {
				f.Path = path + ".latency." + one.Name
			}
			if one.Name == "bandwidth" {
				f.Aliases = []string{prefix + "bw"}
			} else if strings.Contains(one.Text, ".") {
				f.Aliases = []string{prefix + one.Text}
			}
			list = append(list, f)
		}
	}
	add("", "all", "all requests", func(r *mapping.Run) *mapping.Totals { return r.All })
	for i, direction := range mapping.Directions {
		add(direction+".", direction, direction+" requests", func(r *mapping.Run) *mapping.Totals {
			return [...]*mapping.Totals{r.Read, r.Write, r.Trim}[i]
		})
	}
	return list
}

// byName has the fields by name, alias and path in documents, in lower case.
var byName = func() map[string]*Field {
	all := map[string]*Field{}
	for _, f := range Fields {
		for _, name := range append([]string{f.Name, f.Path}, f.Aliases...) {
			if name != "" && all[name] == nil {
				all[name] = f
			}
		}
	}
	return all
}()

// Lookup returns the field with this name, alias or path in documents, or nil.
func Lookup(name string) *Field {
	if f := byName[strings.ToLower(name)]; f != nil && f.ofName == nil {
		return f
	}
	for _, f := range Fields {
		for _, pattern := range []string{f.Name, f.Path} {
			prefix, isMap := strings.CutSuffix(pattern, "*")
			if rest, ok := strings.CutPrefix(name, prefix); isMap && ok && rest != "" && f.ofName != nil {
				return f.named(prefix, rest)
			}
		}
	}
	return nil
}

// named returns the field of one name of a map.
func (f *Field) named(prefix, name string) *Field {
	one := *f
	one.Name, one.Path = prefix+name, strings.TrimSuffix(f.Path, "*")+name
	one.values = func(r *mapping.Run) []any { return f.ofName(r, name) }
	one.ofName = nil
	return &one
}

// inConfig returns the values under a path, which is names with dots between them. Names may contain dots. A list
// has the values of all its items.
func inConfig(value any, path string) []any {
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		var list []any
		for name, item := range v {
			if name == path {
				list = append(list, inConfig(item, "")...)
			} else if rest, ok := strings.CutPrefix(path, name+"."); ok {
				list = append(list, inConfig(item, rest)...)
			}
		}
		return list
	case []any:
		var list []any
		for _, item := range v {
			list = append(list, inConfig(item, path)...)
		}
		return list
	}
	if path != "" {
		return nil
	}
	if n, ok := value.(float64); ok {
		return []any{strconv.FormatFloat(n, 'f', -1, 64)}
	}
	return []any{fmt.Sprint(value)}
}

// unknown says that there is no such field, and lists similar names.
func unknown(name string) string {
	var names []string
	for _, f := range Fields {
		names = append(append(names, f.Name), f.Aliases...)
	}
	text := fmt.Sprintf("no field is called %q", name)
	if near := expr.Near(name, names); len(near) > 0 {
		return text + ": did you mean " + strings.Join(near[:min(len(near), 4)], ", ") + "?"
	}
	return text + fmt.Sprintf(": fio2es help fields lists them; name ~ %s searches in names", expr.Quote(name))
}

// Suggestion is a continuation of a condition.
type Suggestion struct {
	Text string // the condition with the continuation
	Help string // what the continuation means
}

// Suggest continues a condition whose last word is the beginning of a name.
func Suggest(text string) (list []Suggestion) {
	begin := strings.LastIndexAny(text, " (") + 1
	for _, f := range Fields {
		for i, name := range append([]string{f.Name}, f.Aliases...) {
			name = strings.TrimSuffix(name, "*")
			if typed := text[begin:]; strings.HasPrefix(name, typed) && (i == 0 || typed != "") {
				list = append(list, Suggestion{text[:begin] + name, f.Help})
			}
		}
	}
	return list
}
