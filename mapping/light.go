package mapping

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// lightForm begins the compact form of [Run.Light]. JSON begins with "{".
const lightForm = 1

// lightNames are the names of members in the compact form, which has their numbers in this list. Names of new members are added
// at the end, and none is removed, because stored documents have the numbers.
const lightNames = `run workload cbt config fio hosts clock weighting interval_ms levels no_windows placed all read write trim sync sections
recovered missing warnings sla changes source documents ingested fio2es id name archive path start end ingest labels edited note complete partial
lacks execution stage stages stage_name compacted from at benchmark mode rwmixread op_size iodepth total_iodepth numjobs concurrent_procs volumes
clients osds osd_hosts pool_profile ceph_version osd_ra client_ra time ramp iteration version format options jobs usr_cpu sys_cpu
context_switches skew_ms clock_error_ms clock_offset_ms requests iops latency min mean max stddev error_ms bytes duration_ms bandwidth means sums
unbinned bounds slat clat lat histogram layout p50 p75 p90 p95 p99 p99_9 p99_99 exact values counts confidence low high step percentile_step
percentiles rank value rule holds limit direction metric verdict before after percent before_run text marked files hash list role begin says
cluster host job section`

// How a value of the compact form is written, in the two lowest bits of what begins it. The other bits are the number of the member.
const (
	lightInt       = iota // a varint: an integer, a flag, or a time in milliseconds since 1970
	lightFloat            // 8 bytes
	lightBytes            // a length and as many bytes: a text, an object, a list or a map
	lightThousands        // a varint of thousandths, as most latencies are
)

// lightPlan has the members of a struct, and the field of each number.
type lightPlan struct {
	members []member
	numbers []uint64
	fields  []lightField
}

type lightField struct {
	index int        // -1: there is none
	of    *lightPlan // of the field's own fields, or of those of its items
}

var lightPlans sync.Map

func lightOf(t reflect.Type) *lightPlan {
	if p, ok := lightPlans.Load(t); ok {
		return p.(*lightPlan)
	}
	names := strings.Fields(lightNames)
	p := &lightPlan{members: membersOf(t), fields: slices.Repeat([]lightField{{index: -1}}, len(names))}
	for _, m := range p.members {
		n := slices.Index(names, m.name)
		p.numbers = append(p.numbers, uint64(n)) // a test finds a name without a number
		to := &p.fields[n]
		to.index = m.field
		of := t.Field(m.field).Type
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct && of != timeType {
			to.of = lightOf(of)
		}
	}
	lightPlans.Store(t, p)
	return p
}

// AppendLight appends [Run.Light] in a compact form, for lists of many runs: it is read three times as fast as JSON, and
// members that are not wanted cost nothing. Reading it gives the same as reading the JSON. It has each member that is not zero, with its
// number; a reader skips what it does not know.
func (r *Run) AppendLight(dst []byte) []byte {
	return appendLight(append(dst, lightForm), reflect.ValueOf(r.Light()).Elem())
}

// IsLight reports whether a document has the compact form. Otherwise it is JSON.
func IsLight(b []byte) bool { return len(b) > 0 && b[0] == lightForm }

func appendLight(b []byte, v reflect.Value) []byte {
	if v.Type() == latencyType { // JSON leaves out what is not known
		lat := v.Interface().(Latency)
		switch {
		case lat.Layout == "":
			lat = Latency{Mean: lat.Mean}
		case lat.lacksPercentiles():
			for i := range Percentiles {
				*Percentiles[i].of(&lat) = 0
			}
		}
		v = reflect.ValueOf(lat)
	}
	p := lightOf(v.Type())
	for i, m := range p.members {
		b = appendLightValue(b, p.numbers[i], v.Field(m.field), false)
	}
	return b
}

// appendLightHead appends the number and the form of a value that follows.
func appendLightHead(b []byte, number, form uint64) []byte {
	return binary.AppendUvarint(b, number<<2|form)
}

// appendLightValue appends a value with its number, and nothing if the value is zero, unless it is an item of a list.
func appendLightValue(b []byte, number uint64, v reflect.Value, isItem bool) []byte {
	integer := func(n int64) []byte {
		if n == 0 && !isItem {
			return b
		}
		return binary.AppendVarint(appendLightHead(b, number, lightInt), n)
	}
	nested := func(appendTo func([]byte) []byte) []byte {
		begin := len(b)
		b := appendLightHead(b, number, lightBytes)
		at := len(b)
		if b = appendTo(b); len(b) == at && !isItem {
			return b[:begin]
		}
		return slices.Insert(b, at, binary.AppendUvarint(nil, uint64(len(b)-at))...)
	}
	switch v.Kind() {
	case reflect.String:
		return nested(func(b []byte) []byte { return append(b, validText(v.String())...) })
	case reflect.Bool:
		if v.Bool() {
			return integer(1)
		}
		return integer(0)
	case reflect.Int, reflect.Int64:
		return integer(v.Int())
	case reflect.Uint8:
		return integer(int64(v.Uint()))
	case reflect.Float64:
		return appendLightFloat(b, number, v.Float(), isItem)
	case reflect.Pointer:
		if v.IsNil() {
			return b
		}
		return appendLightValue(b, number, v.Elem(), true)
	case reflect.Struct:
		if v.Type() != timeType {
			return nested(func(b []byte) []byte { return appendLight(b, v) })
		}
		if t := timeOf(v); !t.IsZero() {
			return binary.AppendVarint(appendLightHead(b, number, lightInt), t.UnixMilli())
		}
		return b
	case reflect.Slice:
		return nested(func(b []byte) []byte {
			if v.Type() == configType {
				return appendConfig(b, v.Bytes())
			}
			for i := range v.Len() {
				b = appendLightValue(b, 0, v.Index(i), true)
			}
			return b
		})
	}
	return nested(func(b []byte) []byte { // a map
		m := v.Interface().(map[string]string)
		for _, key := range slices.Sorted(maps.Keys(m)) {
			b = appendLightText(appendLightText(b, key), m[key])
		}
		return b
	})
}

func appendLightText(b []byte, s string) []byte {
	s = validText(s)
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// validText returns a text as JSON has it: bytes that are not UTF-8 become U+FFFD.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func appendLightFloat(b []byte, number uint64, f float64, isItem bool) []byte {
	const exact = 1 << 53
	switch n := math.Round(f * 1000); {
	case f == 0 && !isItem, f-f != 0: // JSON has no NaN and no infinity
		return b
	case math.Abs(n) < exact && n/1000 == f:
		return binary.AppendVarint(appendLightHead(b, number, lightThousands), int64(n))
	}
	return binary.LittleEndian.AppendUint64(appendLightHead(b, number, lightFloat), math.Float64bits(f))
}

// Members is a set of members of run documents, such as "cbt" and "read". The zero value is none.
type Members uint64

// AllMembers has all members.
const AllMembers = ^Members(0)

// MembersOf returns the members with these names in JSON. It panics if a run document has no member of a name.
func MembersOf(names ...string) (m Members) {
	all := strings.Fields(lightNames)
	for _, name := range names {
		m |= 1 << slices.Index(all[:runMembers], name) // a negative shift panics
	}
	return m
}

// runMembers is how many of lightNames are members of a run document itself.
const runMembers = 27

var errLight = errors.New("not the compact form of a run document")

// UnmarshalLight decodes some members of what [Run.AppendLight] appends. The others stay as they are.
func (r *Run) UnmarshalLight(b []byte, members Members) error {
	if !IsLight(b) {
		return errLight
	}
	d := lightDecoders.Get().(*lightDecoder)
	defer lightDecoders.Put(d)
	v := reflect.ValueOf(r).Elem()
	return d.object(v, lightOf(v.Type()), b[1:], members)
}

// lightDecoder has texts and maps of the documents before, because names of hosts are in most, and the options of a workload in all of
// its runs. These share a map. A text and a map have one place each, by its hash.
type lightDecoder struct {
	known [2048]string
	maps  [512]struct {
		of    string // as it is written
		texts map[string]string
	}
	seed maphash.Seed
}

var lightDecoders = sync.Pool{New: func() any { return &lightDecoder{seed: maphash.MakeSeed()} }}

func (d *lightDecoder) text(b []byte) string {
	const longest = 64
	if len(b) > longest {
		return string(b)
	}
	at := &d.known[maphash.Bytes(d.seed, b)%uint64(len(d.known))]
	if *at != string(b) {
		*at = string(b)
	}
	return *at
}

// lightItem is a value of the compact form.
type lightItem struct {
	number uint64
	how    uint8
	n      int64
	float  float64
	bytes  []byte
}

// next reads a value. It returns what follows, or nil if the value is cut off.
func (i *lightItem) next(b []byte) []byte {
	tag, size := binary.Uvarint(b)
	if size <= 0 {
		return nil
	}
	b = b[size:]
	i.number, i.how = tag>>2, uint8(tag&3)
	switch i.how {
	case lightFloat:
		if len(b) < 8 {
			return nil
		}
		i.float = math.Float64frombits(binary.LittleEndian.Uint64(b))
		return b[8:]
	case lightBytes:
		i.bytes, b = lightText(b)
		return b
	}
	if i.n, size = binary.Varint(b); size <= 0 {
		return nil
	}
	i.float = float64(i.n) / 1000
	return b[size:]
}

// lightText reads a length and as many bytes. It returns these and what follows, or nil.
func lightText(b []byte) (text, rest []byte) {
	length, size := binary.Uvarint(b)
	if size <= 0 || length > uint64(len(b)-size) {
		return nil, nil
	}
	return b[size : size+int(length)], b[size+int(length):]
}

// object decodes an object. Of its first members it decodes those of a set.
func (d *lightDecoder) object(v reflect.Value, p *lightPlan, b []byte, of Members) error {
	var item lightItem // not one of each turn, which the loop would copy
	for len(b) > 0 {
		if b = item.next(b); b == nil {
			return errLight
		}
		if item.number >= uint64(len(p.fields)) || p.fields[item.number].index < 0 || item.number < runMembers && of>>item.number&1 == 0 {
			continue // of a later version, or not wanted
		}
		to := &p.fields[item.number]
		if err := d.set(v.Field(to.index), to.of, &item); err != nil {
			return err
		}
	}
	return nil
}

// set sets a value. of is the plan of its fields, or of those of its items.
func (d *lightDecoder) set(v reflect.Value, of *lightPlan, item *lightItem) error {
	kind := v.Kind()
	isTime := kind == reflect.Struct && v.Type() == timeType
	want := uint8(lightBytes)
	switch {
	case kind == reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		v.Set(to)
		return d.set(to.Elem(), of, item)
	case kind == reflect.Float64:
		if item.how != lightFloat && item.how != lightThousands {
			return errLight
		}
		v.SetFloat(item.float)
		return nil
	case kind == reflect.Bool, kind == reflect.Int, kind == reflect.Int64, kind == reflect.Uint8, isTime:
		want = lightInt
	}
	if item.how != want {
		return errLight
	}
	switch kind {
	case reflect.String:
		v.SetString(d.text(item.bytes))
	case reflect.Bool:
		v.SetBool(item.n != 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(item.n)
	case reflect.Uint8:
		v.SetUint(uint64(item.n))
	case reflect.Struct:
		if !isTime {
			return d.object(v, of, item.bytes, AllMembers)
		}
		*timeOf(v) = time.UnixMilli(item.n).UTC()
	case reflect.Slice:
		if v.Type() == configType {
			v.SetBytes(bytes.Clone(item.bytes))
			return nil
		}
		return d.list(v, of, item.bytes)
	case reflect.Map:
		m, err := d.texts(item.bytes)
		v.Set(reflect.ValueOf(m))
		return err
	}
	return nil
}

// texts decodes a map.
func (d *lightDecoder) texts(b []byte) (map[string]string, error) {
	at := &d.maps[maphash.Bytes(d.seed, b)%uint64(len(d.maps))]
	if at.of == string(b) && at.texts != nil {
		return at.texts, nil
	}
	m := map[string]string{}
	for rest := b; len(rest) > 0; {
		var key, text []byte
		if key, rest = lightText(rest); rest != nil {
			text, rest = lightText(rest)
		}
		if rest == nil {
			return nil, errLight
		}
		m[d.text(key)] = d.text(text)
	}
	at.of, at.texts = string(b), m
	return m, nil
}

func (d *lightDecoder) list(v reflect.Value, of *lightPlan, b []byte) error {
	var item lightItem
	n := 0
	for rest := b; len(rest) > 0; n++ {
		if rest = item.next(rest); rest == nil {
			return errLight
		}
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		b = item.next(b)
		if err := d.set(v.Index(i), of, &item); err != nil {
			return err
		}
	}
	return nil
}
