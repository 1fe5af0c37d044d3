package export

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// nativeSchema is the finest schema of native histograms: 256 buckets for each power of two, a third of the narrowest bins of
// fio in width.
const nativeSchema = 8

// binsHelp precedes the layout of bins in the help of a family that fio2es wrote.
const binsHelp = " Bins: "

// pointsOfFamily is the most points in one message of a family, so that a message has a few MB at most.
const pointsOfFamily = 1000

// nativePoints writes the points of one series as native histograms, in one or several messages of their family.
type nativePoints struct {
	w      io.Writer
	labels []*dto.LabelPair
	family *dto.MetricFamily
	err    error
}

func newNativePoints(w io.Writer, labels []label, l hist.Layout) *nativePoints {
	p := &nativePoints{w: w, family: &dto.MetricFamily{
		Name: proto.String(metric), Help: proto.String(metricHelp + binsHelp + mapping.LayoutName(l)),
		Type: dto.MetricType_HISTOGRAM.Enum(), Unit: proto.String("seconds"),
	}}
	for _, l := range labels {
		if l.value != "" {
			p.labels = append(p.labels, &dto.LabelPair{Name: proto.String(l.name), Value: proto.String(strings.ToValidUTF8(l.value, "\uFFFD"))})
		}
	}
	return p
}

// point adds a histogram. The requests of a bin are in the bucket of its middle.
func (p *nativePoints) point(h *hist.Histogram, at, created time.Time) {
	out := &dto.Histogram{
		SampleCount: proto.Uint64(0), SampleSum: proto.Float64(0), Schema: proto.Int32(nativeSchema),
		ZeroThreshold: proto.Float64(1e-9), ZeroCount: proto.Uint64(0), // below a nanosecond
	}
	layout, last, before := h.Layout(), int32(0), int64(0)
	for i, n := range h.All() {
		count := int64(math.Round(n))
		*out.SampleCount += uint64(count)
		low, high := layout.Bounds(i)
		if high == 1 {
			out.ZeroCount = proto.Uint64(uint64(count))
			continue
		}
		index := int32(math.Ceil(math.Log2((float64(low)+float64(high))/2e9) * (1 << nativeSchema)))
		if spans := out.PositiveSpan; len(spans) > 0 && index == last+1 {
			*spans[len(spans)-1].Length++
		} else {
			if len(spans) > 0 {
				last++ // offsets count from the bucket after the last
			}
			out.PositiveSpan = append(spans, &dto.BucketSpan{Offset: proto.Int32(index - last), Length: proto.Uint32(1)})
		}
		out.PositiveDelta = append(out.PositiveDelta, count-before)
		last, before = index, count
	}
	if len(out.PositiveSpan) == 0 { // so that it is no classic histogram
		out.PositiveSpan = []*dto.BucketSpan{{Offset: proto.Int32(0), Length: proto.Uint32(0)}}
	}
	if !h.IsEmpty() {
		out.SampleSum = proto.Float64(h.Mean().Value * h.Total() / 1e9)
	}
	if unit.IsKnown(created) {
		out.CreatedTimestamp = timestamppb.New(created)
	}
	m := &dto.Metric{Label: p.labels, Histogram: out}
	if unit.IsKnown(at) {
		m.TimestampMs = proto.Int64(at.UnixMilli())
	}
	if p.family.Metric = append(p.family.Metric, m); len(p.family.Metric) == pointsOfFamily {
		p.flush()
	}
}

// flush writes the points that are not written yet.
func (p *nativePoints) flush() {
	if p.err == nil && len(p.family.Metric) > 0 {
		_, p.err = protodelim.MarshalTo(p.w, p.family)
	}
	p.family.Metric = p.family.Metric[:0]
}

// familyName is the name of a family of metrics at the beginning of a message.
var familyName = regexp.MustCompile("^\n.[a-zA-Z_:][a-zA-Z0-9_:]*\\x12")

// isNative reports whether a text begins like a delimited family of metrics: its length, its name, and its help.
func isNative(head []byte) bool {
	_, n := protowire.ConsumeVarint(head)
	return n > 0 && familyName.Match(head[n:])
}

// readNative reads an exposition of Prometheus in protobuf: families of metrics, each after its length. What has no native
// histograms is skipped.
func readNative(c *collector, in io.Reader) error {
	from, before := bufio.NewReader(in), map[string]*sample{}
	for c.line = 1; ; c.line++ { // the number of the family
		var family dto.MetricFamily
		err := protodelim.UnmarshalOptions{MaxSize: longestLine}.UnmarshalFrom(from, &family)
		if err == io.EOF {
			return nil
		}
		if tooLarge := (*protodelim.SizeTooLargeError)(nil); errors.As(err, &tooLarge) || errors.Is(err, proto.Error) || errors.Is(err, io.ErrUnexpectedEOF) {
			return c.bad(1, fmt.Sprintf("what is no family of metrics (%v)", err), "a MetricFamily of at most 16 MB after its length")
		}
		if err != nil {
			return err
		}
		if err := c.addFamily(&family, before); err != nil {
			return err
		}
	}
}

// sample is a native histogram with absolute counts by bucket.
type sample struct {
	at, created time.Time
	schema      int32
	counts      map[int]int64 // by index; zeroBucket: around 0
	zeroUpTo    float64
}

const zeroBucket = math.MinInt

// addFamily adds the windows of a family: of each series a window up to its first point, and one from each point to the next.
// before has the last point of each series.
func (c *collector) addFamily(family *dto.MetricFamily, before map[string]*sample) error {
	isGauge := family.GetType() == dto.MetricType_GAUGE_HISTOGRAM
	if family.GetType() != dto.MetricType_HISTOGRAM && !isGauge {
		return nil
	}
	scale, hasUnit := map[string]float64{"seconds": 1e9, "milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1}[cmp.Or(family.GetUnit(), family.GetName()[strings.LastIndex(family.GetName(), "_")+1:])]
	layout, isOurs := layoutFor("ns"), false
	if _, name, ok := strings.Cut(family.GetHelp(), binsHelp); ok && family.GetName() == metric {
		var err error
		if layout, err = mapping.ParseLayout(name); err != nil {
			return c.bad(1, "bins "+quote(name), "a layout of fio's bins such as fio3/0")
		}
		isOurs = true
	}
	for _, m := range family.Metric {
		if m.Histogram == nil || m.Histogram.Schema == nil {
			continue
		}
		if !hasUnit {
			var err error
			if scale, err = c.scale(); err != nil {
				return err
			}
		}
		now, err := c.sampleOf(m)
		if err != nil {
			return err
		}
		w, info, key := window.Window{Direction: mapping.AllDirections}, mapping.RunInfo{}, family.GetName()
		for _, l := range m.Label {
			key += "\xff" + l.GetName() + "=" + l.GetValue()
			switch value := l.GetValue(); l.GetName() {
			case "run":
				info.Name = value
			case "archive":
				info.Archive = value
			case "run_id":
				info.ID = value
			case "direction":
				if slices.Contains(mapping.Directions[:], strings.ToLower(value)) {
					w.Direction = strings.ToLower(value)
				}
			case "host", "instance":
				w.Host = value
			case "job":
				w.Job = value
			default:
				w.Job = strings.TrimPrefix(w.Job+","+l.GetName()+"="+value, ",")
			}
		}
		if info.Name == "" {
			info.Name = cmp.Or(family.GetName(), filepath.Base(c.file))
		}
		last, grown := before[key], len(now.counts)
		if before[key] = now; last != nil {
			grown -= len(last.counts)
		}
		const bytesOfBucket = 48 // of a map
		if err := c.Budget.Hold(int64(max(grown, 0) * bytesOfBucket)); err != nil {
			return err
		}
		if isGauge {
			last = nil
		}
		if w.Start, w.End = now.created, now.at; last != nil {
			w.Start = last.at
		}
		if w.Start.IsZero() {
			w.Start = w.End
		}
		if w.End.IsZero() { // of a scrape, without timestamps
			w.End = w.Start
		}
		h := hist.New(layout)
		if err := c.addSample(h, now, last, scale, isOurs); err != nil {
			return err
		}
		if h.IsEmpty() {
			continue
		}
		if err := c.add(c.run(info), w, h); err != nil {
			return err
		}
	}
	return nil
}

// sampleOf returns the counts of a native histogram.
func (c *collector) sampleOf(m *dto.Metric) (*sample, error) {
	of := m.Histogram
	s := &sample{schema: of.GetSchema(), counts: map[int]int64{zeroBucket: int64(of.GetZeroCount())}, zeroUpTo: of.GetZeroThreshold()}
	if m.TimestampMs != nil {
		s.at = time.UnixMilli(m.GetTimestampMs()).UTC()
	}
	if of.CreatedTimestamp != nil {
		s.created = of.CreatedTimestamp.AsTime()
	}
	switch {
	case s.schema < -4 || s.schema > 8:
		return nil, c.bad(1, fmt.Sprintf("a native histogram of schema %d", s.schema), "-4 to 8")
	case len(of.PositiveCount) > 0 || of.GetSampleCountFloat() > 0 || of.GetZeroCountFloat() > 0:
		return nil, c.bad(1, "a native histogram with fractions", "whole counts")
	case len(of.NegativeSpan) > 0 || of.GetZeroCount() > hist.MaxCount || !(s.zeroUpTo >= 0):
		return nil, c.bad(1, "a native histogram with negative values or too many", "latencies, at most 2^53")
	}
	index, n, count := 0, 0, int64(0)
	for _, span := range of.PositiveSpan {
		index += int(span.GetOffset())
		for range span.GetLength() {
			if n == len(of.PositiveDelta) {
				return nil, c.bad(1, fmt.Sprintf("%d buckets", n), "as many as the spans say")
			}
			if count += of.PositiveDelta[n]; count < 0 || count > hist.MaxCount {
				return nil, c.bad(1, fmt.Sprintf("%d requests in a bucket", count), "0 or more, at most 2^53")
			}
			s.counts[index] = count
			index, n = index+1, n+1
		}
	}
	return s, nil
}

// addSample adds the requests of a sample that an earlier one of the series does not have. isOurs says that they are at the
// middles of bins.
func (c *collector) addSample(h *hist.Histogram, now, last *sample, scale float64, isOurs bool) error {
	if last != nil && (last.schema != now.schema || last.zeroUpTo != now.zeroUpTo) {
		return c.bad(1, fmt.Sprintf("a series whose schema changes from %d to %d", last.schema, now.schema), "one schema")
	}
	total, isReset := int64(0), false
	if last != nil {
		for index, n := range last.counts {
			isReset = isReset || now.counts[index] < n
		}
	}
	for index, n := range now.counts {
		if last != nil && !isReset { // else the program started again
			n -= last.counts[index]
		}
		total += n
		width := math.Ldexp(1, -int(now.schema))
		low, high := math.Exp2(float64(index-1)*width)*scale, math.Exp2(float64(index)*width)*scale
		if index == zeroBucket {
			low, high = 0, max(now.zeroUpTo*scale, math.SmallestNonzeroFloat64)
		}
		switch {
		case n == 0:
		case !(low < high && low < math.MaxInt64):
			return c.bad(1, fmt.Sprintf("a bucket from %v to %v ns", low, high), "latencies up to 292 years")
		case isOurs:
			h.AddAt(h.Layout().Index(int64((low+high)/2)), float64(n))
		default:
			h.AddBetween(low, high, uint64(n))
		}
	}
	if total > hist.MaxCount {
		return c.bad(1, fmt.Sprintf("%d requests", total), "at most 2^53")
	}
	return nil
}
