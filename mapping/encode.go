package mapping

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fio2es writes documents by the same struct tags by which encoding/json reads them. It does not use encoding/json to
// write, for three reasons. Times there have no fixed number of decimals. It fails if a number or a configuration
// cannot be written in JSON. Histograms, nine tenths of a document, take several times as long (encode_bins.go).

// AppendJSON appends the document to dst as one line without its end. The same document gives the same bytes. The rate of
// averages is absent if it is not known, so that nothing adds it up as 0.
func (d *Interval) AppendJSON(dst []byte) []byte {
	b, v := append(dst, '{'), reflect.ValueOf(d).Elem()
	for _, m := range membersOf(reflect.TypeFor[Interval]()) {
		if m.name != "iops" || d.IOPS != 0 || d.Weighting != Averaged {
			b = m.append(b, v)
		}
	}
	return closeWith(b, '}')
}

// MarshalJSON calls [Interval.AppendJSON] for package encoding/json.
func (d Interval) MarshalJSON() ([]byte, error) { return d.AppendJSON(nil), nil }

// AppendJSON appends the document to dst as one line without its end. The same document gives the same bytes. The JSON
// has three members that the struct lacks: @timestamp, run.link and fio.direction.
func (r *Run) AppendJSON(dst []byte) []byte {
	b := append(appendTime(append(dst, `{"@timestamp":`...), r.Run.Start), ',')
	v := reflect.ValueOf(r).Elem()
	for _, m := range membersOf(reflect.TypeFor[Run]()) {
		begin := len(b)
		b = m.append(b, v)
		switch m.name {
		case "run":
			b = append(appendString(append(b[:len(b)-len("},")], `,"link":`...), r.Run.Link()), '}', ',')
		case "fio":
			b = r.insertDirections(b, begin)
		}
	}
	return closeWith(b, '}')
}

// MarshalJSON calls [Run.AppendJSON] for package encoding/json.
func (r Run) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// insertDirections inserts the run's directions as the first member of the object fio. The object begins at the index
// at of b, or is missing if it has no other member.
func (r *Run) insertDirections(b []byte, at int) []byte {
	list := r.ByDirection()
	if len(list) == 0 {
		return b
	}
	text := []byte(`"fio":{"direction":[`)
	for _, d := range list {
		text = append(appendString(text, d.Direction), ',')
	}
	text = append(closeWith(text, ']'), ',')
	if len(b) == at {
		return append(closeWith(append(b, text...), '}'), ',')
	}
	return slices.Replace(b, at, at+len(`"fio":{`), text...)
}

// appender appends a value in JSON.
type appender func(b []byte, v reflect.Value) []byte

// members are the fields of a struct that become JSON.
type members []member

type member struct {
	name  string
	key   string // the name as it is written
	field int
	omit  bool // an empty value is omitted
	value appender
}

// plans caches the members of structs by their types.
var plans sync.Map

func membersOf(t reflect.Type) members {
	if ms, ok := plans.Load(t); ok {
		return ms.(members)
	}
	var ms members
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		ms = append(ms, member{
			name: name, key: strconv.Quote(name) + ":", field: i, omit: options != "",
			value: appenderOf(f.Type),
		})
	}
	plans.Store(t, ms)
	return ms
}

// appendObject appends a struct as an object.
func appendObject(b []byte, v reflect.Value) []byte { return membersOf(v.Type()).appendObject(b, v) }

func (ms members) appendObject(b []byte, v reflect.Value) []byte {
	return closeWith(ms.append(append(b, '{'), v), '}')
}

// append appends the members of v, a comma after each.
func (ms members) append(b []byte, v reflect.Value) []byte {
	for i := range ms {
		b = ms[i].append(b, v)
	}
	return b
}

func (m *member) append(b []byte, v reflect.Value) []byte {
	v = v.Field(m.field)
	if m.omit && isEmpty(v) {
		return b
	}
	begin := len(b)
	b = append(b, m.key...)
	value := len(b)
	b = m.value(b, v)
	if m.omit && string(b[value:]) == "{}" {
		return b[:begin]
	}
	return append(b, ',')
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
		return v.Type() == timeType && timeOf(v).IsZero() || v.IsZero()
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

var timeType = reflect.TypeFor[time.Time]()

// timeOf returns the time in v, usually without an allocation.
func timeOf(v reflect.Value) *time.Time {
	if v.CanAddr() {
		return v.Addr().Interface().(*time.Time)
	}
	t := v.Interface().(time.Time)
	return &t
}

func appenderOf(t reflect.Type) appender {
	switch t {
	case timeType:
		return func(b []byte, v reflect.Value) []byte { return appendTime(b, *timeOf(v)) }
	case reflect.TypeFor[Level]():
		return func(b []byte, v reflect.Value) []byte { return appendString(b, Level(v.Uint()).String()) }
	case reflect.TypeFor[Latency]():
		return func(b []byte, v reflect.Value) []byte { return v.Addr().Interface().(*Latency).append(b) }
	}
	switch t.Kind() {
	case reflect.String:
		return func(b []byte, v reflect.Value) []byte { return appendString(b, v.String()) }
	case reflect.Bool:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendBool(b, v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendInt(b, v.Int(), 10) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendUint(b, v.Uint(), 10) }
	case reflect.Float32, reflect.Float64:
		return func(b []byte, v reflect.Value) []byte { return appendFloat(b, v.Float()) }
	case reflect.Struct:
		return membersOf(t).appendObject
	case reflect.Pointer:
		return orNull(appenderOf(t.Elem()))
	case reflect.Slice:
		return listOf(appenderOf(t.Elem()))
	case reflect.Map:
		return mapOf(appenderOf(t.Elem()))
	case reflect.Interface: // in a configuration
		return orNull(func(b []byte, v reflect.Value) []byte { return appenderOf(v.Type())(b, v) })
	}
	// A value of any other type, as from an odd configuration, becomes a text, so that the run is stored.
	return func(b []byte, v reflect.Value) []byte { return appendString(b, fmt.Sprint(v)) }
}

func orNull(value appender) appender {
	return func(b []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(b, "null"...)
		}
		return value(b, v.Elem())
	}
}

func listOf(item appender) appender {
	return func(b []byte, v reflect.Value) []byte {
		b = append(b, '[')
		for i := range v.Len() {
			b = append(item(b, v.Index(i)), ',')
		}
		return closeWith(b, ']')
	}
}

// mapOf appends an object with ascending keys. YAML has keys that JSON does not have: they become texts.
func mapOf(value appender) appender {
	return func(b []byte, v reflect.Value) []byte {
		keys := v.MapKeys()
		text := func(k reflect.Value) string { return fmt.Sprint(k) }
		slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(text(x), text(y)) })
		b = append(b, '{')
		for _, k := range keys {
			b = append(appendString(b, text(k)), ':')
			b = append(value(b, v.MapIndex(k)), ',')
		}
		return closeWith(b, '}')
	}
}

// closeWith ends an object or a list. Its items have commas after them.
func closeWith(b []byte, end byte) []byte {
	if last := len(b) - 1; b[last] == ',' {
		b[last] = end
		return b
	}
	return append(b, end)
}
