package where

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload/rule"
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

	isInDocuments bool // documents have the values in Path, as single words, numbers and times, or lack some

	members []string                              // of run documents, which have the value; nil: any may be needed
	of      func(*mapping.Run) any                // see Values
	ofName  func(r *mapping.Run, name string) any // of one name, for fields with many names
}

// Members returns the members of run documents that have the value, or nil if it may need all.
func (f *Field) Members() []string { return f.members }

// Values returns the values that a run has in the field: strings, bools, times, or float64 and [Between] in the unit of
// documents. It returns none if the run lacks the field, and several for a list.
func (f *Field) Values(run *mapping.Run) []any {
	if f.ofName != nil {
		return nil
	}
	return values(f.of(run))
}

// values returns a value of a document as [Field.Values] does.
func values(value any) (list []any) {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return v
	case []string:
		for _, text := range v {
			list = append(list, text)
		}
		return list
	case string:
		if v == "" {
			return nil
		}
	case time.Time:
		if v.Year() < 1970 {
			return nil
		}
	case int:
		return []any{float64(v)}
	case int64:
		return []any{float64(v)}
	}
	return []any{value}
}

// each returns a text of each element of a list.
func each[T any](list []T, of func(*T) string) (texts []string) {
	for i := range list {
		texts = append(texts, of(&list[i]))
	}
	return texts
}

// orOfSections returns a setting of a run, or what its sections have if these differ.
func orOfSections(of func(*mapping.Run) any) func(*mapping.Run) any {
	return func(r *mapping.Run) any {
		if value := of(r); value != nil {
			return value
		}
		var list []any
		for i := range r.Sections {
			for _, v := range values(of(&mapping.Run{CBT: r.Sections[i].CBT})) {
				if !slices.Contains(list, v) {
					list = append(list, v)
				}
			}
		}
		return list
	}
}

// unlessZero returns a number that is not known if it is 0.
func unlessZero(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// Text returns a value of the field for people.
func (f *Field) Text(value any) string {
	switch v := value.(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case time.Time:
		return unit.Time(v, unit.Second)
	case Between:
		return facts.Bounded(v.Low, v.High).Text(f.Kind)
	case float64:
		return facts.KindText(f.Kind, v, false)
	}
	return value.(string)
}

// Fields are all fields, in the order of the reference. A name that ends in ".*" stands for any name in that place.
var Fields = sync.OnceValue(func() (list []*Field) {
	add := func(name, path string, kind expr.Kind, help, example string, of func(*mapping.Run) any) *Field {
		f := &Field{Name: name, Path: path, Kind: kind, Help: help, Example: example, of: of}
		list = append(list, f)
		return f
	}
	var doc mapping.Run
	path := func(address any) string {
		path, _ := fieldOf(&doc, address)
		return path
	}
	plain := func(name string, address any, kind expr.Kind, help, example string) *Field {
		path, of := fieldOf(&doc, address)
		member, _, _ := strings.Cut(path, ".")
		f := add(name, path, kind, help, example, of)
		f.members, f.isInDocuments = []string{member}, true
		return f
	}
	names := func(name, path, help, example string, of func(r *mapping.Run, name string) any) *Field {
		f := add(name, path, expr.Text, help, example, nil)
		member, _, _ := strings.Cut(path, ".")
		f.ofName, f.members, f.isInDocuments = of, []string{member}, true
		return f
	}
	const aTime = "2026-10"
	plain("id", &doc.Run.ID, expr.Text, "the run's id, or the beginning of it", "4f1d2c").isInDocuments = false
	plain("name", &doc.Run.Name, expr.Text, "its name", "id-7c1f")
	plain("archive", &doc.Run.Archive, expr.Text, "the archive or folder that it came from", "nightly.tar.gz")
	plain("path", &doc.Run.Path, expr.Text, "its folder in the archive", "results/00000000")
	plain("start", &doc.Run.Start, expr.Time, "when it started", aTime)
	plain("end", &doc.Run.End, expr.Time, "when it ended", aTime)
	add("duration", "", expr.Duration, "how long it took", "10m", func(r *mapping.Run) any { return r.Run.End.Sub(r.Run.Start).Seconds() })
	plain("complete", &doc.Run.Complete, expr.Flag, "whether it is over and lacks nothing", "yes")
	plain("partial", &doc.Run.Partial, expr.Flag, "whether files are missing or damaged, so that its numbers are of a part", "yes")
	plain("lacks", &doc.Run.Lacks, expr.Text, "how many of CBT's clients and volumes have files, if some have none", "volumes")
	add("live", "", expr.Flag, "whether run or follow is storing it", "yes", func(r *mapping.Run) any { return r.Run.Live() })
	add("state", "", expr.Text, "what is special: live, incomplete, 3 of 4 volumes, precondition, no windows, averages, sla broken", "incomplete", func(r *mapping.Run) any {
		words, _ := r.State()
		return words
	})
	plain("execution", &doc.Run.Execution, expr.Text, "the id of the call of fio that the run is a stage of", "4f1d2c")
	add("stage", path(&doc.Run.Stage), expr.Number, "which stage of its call of fio it is, from 1", "2", func(r *mapping.Run) any { return unlessZero(r.Run.Stage) })
	add("stages", path(&doc.Run.Stages), expr.Number, "how many stages its call of fio has", "3", func(r *mapping.Run) any { return unlessZero(r.Run.Stages) })
	plain("stage_name", &doc.Run.StageName, expr.Text, "what the stage is called in its call of fio", "randread-qd1")
	workloads := func(of func(mapping.Workload) string) func(*mapping.Run) any {
		return func(r *mapping.Run) any {
			texts := []string{of(rule.Of(r))}
			for _, part := range facts.Parts(r) {
				if text := of(rule.Of(part)); !slices.Contains(texts, text) {
					texts = append(texts, text)
				}
			}
			return texts
		}
	}
	add("workload.id", path(&doc.Workload.ID), expr.Text, "the id of what it or a section of it measured: runs with the same settings have the same", "1-4f1d2c", workloads(func(w mapping.Workload) string { return w.ID }))
	add("workload.name", path(&doc.Workload.Name), expr.Text, "the most important settings, and the beginning of that id", "libaio", workloads(func(w mapping.Workload) string { return w.Name }))
	add("section", "", expr.Text, "the sections of its jobs, if these did not all do the same", "reader", func(r *mapping.Run) any {
		return each(r.Sections, func(s *mapping.RunSection) string { return s.Name })
	})
	add("beside", "", expr.Text, "of a section in a matrix: what ran at the same time", "write", func(r *mapping.Run) any {
		if len(r.Sections) != 1 {
			return nil
		}
		return r.Sections[0].Beside
	})
	names("label.*", path(&doc.Run.Labels)+".*", "a label", "reef", func(r *mapping.Run, name string) any { return ofMap(r.Run.Labels, name) })
	plain("note", &doc.Run.Note, expr.Text, "what people wrote about it (fio2es note)", "switch").isInDocuments = false
	plain("ingested", &doc.Ingested, expr.Time, "when it was stored", aTime)
	plain("fio2es", &doc.Program.Version, expr.Text, "the version of fio2es that read its files", "v1.2.3")
	for _, s := range facts.Settings() {
		f := add(s.Name, path(&doc.CBT)+"."+s.Name, s.Kind, s.Help, s.Example, orOfSections(s.Value))
		f.members, f.isInDocuments = []string{"cbt", "sections"}, true
		if s.Alias != "" {
			f.Aliases = []string{s.Alias}
		}
	}
	names("config.*", path(&doc.Config)+".*", "a setting of CBT's configuration", "256", func(r *mapping.Run, name string) any { return inConfig(r.Configuration(), name) }).isInDocuments = false
	names("option.*", path(&doc.Fio.Options)+".*", "an option of fio", "libaio", func(r *mapping.Run, name string) any { return ofMap(r.Fio.Options, name) })
	plain("fio", &doc.Fio.Version, expr.Text, "fio's version", "fio-3.36")
	plain("format", &doc.Fio.Format, expr.Text, "the format of fio's report, if it is not JSON: its numbers are rounded", "normal")
	plain("jobs", &doc.Fio.Jobs, expr.Number, "fio's jobs, on all hosts", "16")
	cpu := func(r *mapping.Run, share float64) any {
		if r.Fio.UsrCPU == 0 && r.Fio.SysCPU == 0 { // a report of fio has both, and they are not both 0
			return nil
		}
		return share
	}
	add("usr_cpu", path(&doc.Fio.UsrCPU), expr.Number, "percent of a CPU in user mode, mean of the jobs", "80", func(r *mapping.Run) any { return cpu(r, r.Fio.UsrCPU) })
	add("sys_cpu", path(&doc.Fio.SysCPU), expr.Number, "percent of a CPU in the kernel, mean of the jobs", "80", func(r *mapping.Run) any { return cpu(r, r.Fio.SysCPU) })
	add("context_switches", path(&doc.Fio.Switches), expr.Number, "context switches of the jobs", "1e6", func(r *mapping.Run) any {
		if r.Fio.Switches == 0 {
			return nil
		}
		return r.Fio.Switches
	})
	add("direction", mapping.DirectionField, expr.Text, "read, write, trim, sync: those that it has", "write", func(r *mapping.Run) any {
		return each(r.ByDirection(), func(d *mapping.DirectionTotals) string { return d.Direction })
	})
	add("host", mapping.HostsField, expr.Text, "the name of one of its hosts", "client1", func(r *mapping.Run) any {
		return each(r.Hosts, func(h *mapping.RunHost) string { return h.Name })
	}).isInDocuments = true
	add("hosts", "", expr.Number, "how many hosts it has", "8", func(r *mapping.Run) any { return len(r.Hosts) })
	plain("clock", &doc.Clock.Source, expr.Text, "where its times come from: log_unix_epoch, job_start, report, user (the setting start) or mtime", "mtime")
	add("interval", path(&doc.IntervalMS), expr.Duration, "the length of its windows", "1s", func(r *mapping.Run) any {
		if r.IntervalMS == 0 { // not known
			return nil
		}
		return float64(r.IntervalMS) / 1000
	})
	plain("compacted", &doc.Run.Compacted.At, expr.Time, "when its windows were joined to longer ones", aTime)
	add("level", path(&doc.Levels), expr.Text, "cluster, host, section, job: of its interval documents", "host", func(r *mapping.Run) any {
		return each(r.Levels, func(l *mapping.Level) string { return l.String() })
	})
	plain("recovered", &doc.Recovered.Requests, expr.Count, "requests recovered from fio's report", "0")
	plain("missing", &doc.Missing.Requests, expr.Count, "requests that are in no window", "0")
	plain("warning", &doc.Warnings, expr.Text, "a warning", "clock").isInDocuments = false
	add("sla", "", expr.Text, "met or broken: its objectives", "broken", func(r *mapping.Run) any {
		switch {
		case len(r.SLA) == 0:
			return nil
		case slices.ContainsFunc(r.SLA, func(v mapping.Verdict) bool { return !v.Holds }):
			return "broken"
		}
		return "met"
	})
	examples := map[string]string{"requests": "1e6", "bytes": "100GiB", "iops": "20k", "bandwidth": "100MiB/s"}
	helps := map[string]string{"requests": "number", "iops": "rate"}
	for _, direction := range append([]string{"all"}, mapping.Directions[:]...) {
		prefix := strings.TrimPrefix(direction+".", "all.")
		add(prefix+"unbinned", direction+".unbinned", expr.Count, "number of "+direction+" requests that are in no bin", "0", func(r *mapping.Run) any {
			if t := r.Of(direction); t != nil {
				return t.Unbinned
			}
			return nil
		})
		for _, one := range facts.OfTotals {
			if !one.IsOf(direction) {
				continue
			}
			path := direction + "."
			if one.Kind == expr.Latency {
				path += "latency."
			}
			f := add(prefix+one.Name, path+one.Name, one.Kind, cmp.Or(helps[one.Name], one.Text())+" of "+direction+" requests",
				cmp.Or(examples[one.Name], "5ms"), func(r *mapping.Run) any {
					t := r.Of(direction)
					if t == nil {
						return nil
					}
					switch n := one.OfTotals(t); {
					case n.IsKnown():
						return n.Value
					case n.IsBound():
						return Between{n.Low, n.High}
					default:
						return nil
					}
				})
			f.members = []string{direction}
			if one.Name == "bandwidth" {
				f.Aliases = []string{prefix + "bw"}
			} else if strings.Contains(one.Text(), ".") {
				f.Aliases = []string{prefix + one.Text()}
			}
		}
	}
	return list
})

// ofMap returns the text of a name, or nil.
func ofMap(texts map[string]string, name string) any {
	if text, ok := texts[name]; ok {
		return []any{text} // also an empty one
	}
	return nil
}

// Lookup returns the field with this name, alias or path in documents, or nil.
func Lookup(name string) *Field {
	lower := strings.ToLower(name)
	for _, f := range Fields() {
		if f.ofName == nil {
			if f.Name == lower || f.Path == lower && lower != "" || slices.Contains(f.Aliases, lower) {
				return f
			}
			continue
		}
		for _, pattern := range []string{f.Name, f.Path} {
			prefix := strings.TrimSuffix(pattern, "*")
			if one, ok := strings.CutPrefix(name, prefix); ok && one != "" { // the field of one name of a map
				return &Field{
					Name: prefix + one, Path: strings.TrimSuffix(f.Path, "*") + one, Kind: f.Kind, Help: f.Help, Example: f.Example, members: f.members, isInDocuments: f.isInDocuments,
					of: func(r *mapping.Run) any { return f.ofName(r, one) },
				}
			}
		}
	}
	return nil
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
	for _, f := range Fields() {
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
	for _, f := range Fields() {
		for i, name := range append([]string{f.Name}, f.Aliases...) {
			name = strings.TrimSuffix(name, "*")
			if typed := text[begin:]; strings.HasPrefix(name, typed) && (i == 0 || typed != "") {
				list = append(list, Suggestion{text[:begin] + name, f.Help})
			}
		}
	}
	return list
}
