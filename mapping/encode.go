package mapping

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fio2es/fio2es/hist"
)

// fio2es writes documents by the same struct tags by which encoding/json reads them. It does not use encoding/json to
// write, for three reasons. Times there have no fixed number of decimals. It fails if a number or a configuration
// cannot be written in JSON. Histograms, nine tenths of a document, take several times as long.

// AppendJSON appends the document to dst as one line without its end. The same document gives the same bytes. A rate that is
// not known, or of syncs, is absent, so that nothing adds it up as 0, and so are the requests of averages.
func (d *Interval) AppendJSON(dst []byte) []byte {
	b, v := append(dst, '{'), reflect.ValueOf(d).Elem()
	for _, m := range membersOf(reflect.TypeFor[Interval]()) {
		isUnknown := false
		switch m.name {
		case "iops":
			isUnknown = d.IOPS == 0 && (d.Weighting == Averaged || d.Requests.Completed > 0 || d.Fio.Direction == Sync)
		case "requests":
			isUnknown = d.Weighting == Averaged
		}
		if !isUnknown {
			b = m.append(b, v)
		}
	}
	return closeWith(b, '}')
}

// MarshalJSON calls [Interval.AppendJSON] for package encoding/json.
func (d Interval) MarshalJSON() ([]byte, error) { return d.AppendJSON(nil), nil }

// AppendJSON appends the document to dst as one line without its end. The same document gives the same bytes. The JSON
// has members that the struct lacks: @timestamp, run.link, run.compare, run.hosts, workload.all, fio.direction, and p50 to p99_99 in fio of [Totals].
func (r *Run) AppendJSON(dst []byte) []byte {
	b := append(appendTime(append(dst, `{"@timestamp":`...), r.Run.Start), ',')
	v := reflect.ValueOf(r).Elem()
	for _, m := range membersOf(reflect.TypeFor[Run]()) {
		begin := len(b)
		b = m.append(b, v)
		switch m.name {
		case "run":
			b = appendString(append(b[:len(b)-len("},")], `,"link":`...), r.Run.Link())
			b = appendString(append(b, `,"compare":`...), r.CompareLink())
			if names := r.hostNames(); len(names) > 0 {
				b = appendValue(append(b, `,"hosts":`...), reflect.ValueOf(names))
			}
			b = append(b, '}', ',')
		case "workload":
			if ids := r.Workloads(); len(ids) > 0 {
				b = appendValue(append(b[:len(b)-len("},")], `,"all":`...), reflect.ValueOf(ids))
				b = append(b, '}', ',')
			}
		case "fio": // the directions become the first member of the object, which is missing if it has no other
			list := r.ByDirection()
			if len(list) == 0 {
				continue
			}
			text := []byte(`"fio":{"direction":[`)
			for _, d := range list {
				text = append(appendString(text, d.Direction), ',')
			}
			text = append(closeWith(text, ']'), ',')
			if len(b) == begin {
				b = append(closeWith(append(b, text...), '}'), ',')
			} else {
				b = slices.Replace(b, begin, begin+len(`"fio":{`), text...)
			}
		}
	}
	return closeWith(b, '}')
}

// MarshalJSON calls [Run.AppendJSON] for package encoding/json.
func (r Run) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// member is a field of a struct that becomes JSON.
type member struct {
	name  string
	key   string // the name as it is written
	field int
	omit  bool // an empty value is omitted
}

// plans caches the members of structs by their types.
var plans sync.Map

func membersOf(t reflect.Type) []member {
	if ms, ok := plans.Load(t); ok {
		return ms.([]member)
	}
	var ms []member
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		ms = append(ms, member{name: name, key: strconv.Quote(name) + ":", field: i, omit: options != ""})
	}
	plans.Store(t, ms)
	return ms
}

// append appends the member of a struct, and a comma.
func (m *member) append(b []byte, v reflect.Value) []byte {
	v = v.Field(m.field)
	if m.omit {
		isEmpty := v.IsZero()
		switch v.Kind() {
		case reflect.Struct:
			isEmpty = isEmpty || v.Type() == timeType && timeOf(v).IsZero()
		case reflect.Slice, reflect.Map:
			isEmpty = v.Len() == 0
		}
		if isEmpty {
			return b
		}
	}
	begin := len(b)
	b = append(b, m.key...)
	value := len(b)
	b = appendValue(b, v)
	if m.omit && v.Kind() != reflect.Pointer && string(b[value:]) == "{}" {
		return b[:begin]
	}
	return append(b, ',')
}

func appendObject(b []byte, v reflect.Value) []byte {
	b = append(b, '{')
	for _, m := range membersOf(v.Type()) {
		b = m.append(b, v)
	}
	return closeWith(b, '}')
}

var (
	timeType, levelType         = reflect.TypeFor[time.Time](), reflect.TypeFor[Level]()
	runType, configType         = reflect.TypeFor[Run](), reflect.TypeFor[jsontext.Value]()
	latencyType, fioLatencyType = reflect.TypeFor[Latency](), reflect.TypeFor[FioLatency]()
)

// timeOf returns the time in v, usually without an allocation.
func timeOf(v reflect.Value) *time.Time {
	if v.CanAddr() {
		return v.Addr().Interface().(*time.Time)
	}
	t := v.Interface().(time.Time)
	return &t
}

// appendValue appends a value of any type. One that JSON does not have, as in an odd configuration, becomes a text, so
// that the run is stored. So do keys of maps, which ascend.
func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		return appendString(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Type() == levelType {
			return appendString(b, Level(v.Uint()).String())
		}
		return strconv.AppendUint(b, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return appendFloat(b, v.Float())
	case reflect.Struct:
		switch v.Type() {
		case timeType:
			return appendTime(b, *timeOf(v))
		case runType:
			return v.Addr().Interface().(*Run).AppendJSON(b)
		case latencyType:
			return v.Addr().Interface().(*Latency).append(b)
		case fioLatencyType: // percentiles also have fields of their own, because dashboards cannot search a list for a rank
			f := v.Addr().Interface().(*FioLatency)
			b = appendObject(b, v)
			for i := range Percentiles {
				if us, ok := f.Figure(Percentiles[i].Field); ok {
					b = append(appendString(append(b[:len(b)-1], ','), Percentiles[i].Field), ':')
					b = append(appendFloat(b, us), '}')
				}
			}
			return b
		}
		return appendObject(b, v)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(b, "null"...)
		}
		return appendValue(b, v.Elem())
	case reflect.Slice:
		if v.Type() == configType {
			return appendConfig(b, v.Bytes())
		}
		b = append(b, '[')
		for i := range v.Len() {
			b = append(appendValue(b, v.Index(i)), ',')
		}
		return closeWith(b, ']')
	case reflect.Map:
		text := func(k reflect.Value) string { return fmt.Sprint(k) }
		keys := v.MapKeys()
		slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(text(x), text(y)) })
		b = append(b, '{')
		for _, k := range keys {
			b = append(appendString(b, text(k)), ':')
			b = append(appendValue(b, v.MapIndex(k)), ',')
		}
		return closeWith(b, '}')
	}
	return appendString(b, fmt.Sprint(v))
}

// appendConfig appends a configuration in one form, whoever wrote it.
func appendConfig(b []byte, config jsontext.Value) []byte {
	if with, err := jsontext.AppendFormat(b, config); err == nil {
		return with
	}
	return b
}

// closeWith ends an object or a list. Its items have commas after them.
func closeWith(b []byte, end byte) []byte {
	if last := len(b) - 1; b[last] == ',' {
		b[last] = end
		return b
	}
	return append(b, end)
}

// timeLayout is RFC 3339 with exactly three decimals, so that times sort as text.
const timeLayout = "2006-01-02T15:04:05.000Z"

func appendTime(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), timeLayout), '"')
}

// appendFloat appends f exactly, without an exponent unless f is very large or small. JSON has no NaN and no infinity:
// they become null, and Check finds them.
func appendFloat(b []byte, f float64) []byte {
	switch size := math.Abs(f); {
	case size == 0:
		return append(b, '0') // also of -0
	case !(size <= math.MaxFloat64):
		return append(b, "null"...)
	case size < 1e-6 || size >= 1e21:
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

// appendString appends s as JSON text. Bytes that are not UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	done := 0 // bytes of s that are written
	for i := 0; i < len(s); {
		c, size := s[i], 1
		switch {
		case c == '"' || c == '\\':
			b = append(append(b, s[done:i]...), '\\', c)
		case c < 0x20:
			b = append(append(b, s[done:i]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			b, size = utf8.AppendRune(append(b, s[done:i]...), r), n
		default:
			i++
			continue
		}
		i += size
		done = i
	}
	return append(append(b, s[done:]...), '"')
}

// binTable has the middles of the bins of a layout in microseconds, and their JSON texts, each with a comma. A histogram is
// nine tenths of a document, so the texts are made once. Without them NDJSON takes a third longer.
type binTable struct {
	middles []float64
	texts   []string
}

// binTables caches the tables: *binTable by hist.Layout.
var binTables sync.Map

func tableOf(l hist.Layout) *binTable {
	if t, ok := binTables.Load(l); ok {
		return t.(*binTable)
	}
	t := &binTable{}
	for i := range l.Len() {
		middle := l.Middle(i) / 1000
		t.middles = append(t.middles, middle)
		t.texts = append(t.texts, string(append(appendFloat(nil, middle), ',')))
	}
	binTables.Store(l, t)
	return t
}

// append appends the object. Without a histogram, as of averages, the object has only the mean.
func (lat *Latency) append(b []byte) []byte {
	b = append(b, '{')
	if !lat.Bins.IsZero() {
		b = append(b, `"histogram":{"values":[`...)
		t, next := &binTable{}, 0 // no texts of an unknown layout
		if l, err := ParseLayout(lat.Layout); err == nil {
			t = tableOf(l)
		}
		for _, v := range lat.Bins.Values {
			for next < len(t.middles) && t.middles[next] < v {
				next++
			}
			if next < len(t.middles) && t.middles[next] == v {
				b = append(b, t.texts[next]...)
			} else {
				b = append(appendFloat(b, v), ',')
			}
		}
		b = append(closeWith(b, ']'), `,"counts":[`...)
		for _, n := range lat.Bins.Counts {
			b = append(strconv.AppendInt(b, n, 10), ',')
		}
		b = append(closeWith(b, ']'), '}', ',')
	}
	switch {
	case lat.IsZero():
	case lat.Layout == "" && lat.Bins.IsZero():
		b = append(appendFloat(append(b, `"mean":`...), lat.Mean), ',')
	default:
		v, isUnknown := reflect.ValueOf(lat).Elem(), lat.lacksPercentiles()
		for _, m := range membersOf(latencyType)[1:] { // all members except the histogram
			if !isUnknown || m.name[0] != 'p' {
				b = m.append(b, v)
			}
		}
	}
	return closeWith(b, '}')
}
