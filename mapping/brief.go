package mapping

import (
	"encoding/json"
	"reflect"
)

// NotBrief are the fields that [Run.Brief] omits, by their names in Elasticsearch.
var NotBrief = func() []string {
	list := []string{
		"config", "hosts.jobs", "hosts.start", "hosts.skew_ms", "hosts.clock", "hosts.clock_error_ms", "clock", "placed", "warnings", "source", "fio2es",
	}
	for _, totals := range append([]string{"all"}, Directions[:]...) {
		list = append(list, totals+".means", totals+".sums", totals+".latency.histogram")
	}
	return list
}()

// Brief returns a shallow copy with the fields that lists of runs show. It is smaller than [Run.Light].
func (r *Run) Brief() *Run {
	c := r.WithFiles()
	c.Config, c.Clock, c.Placed, c.Warnings, c.Source, c.Program = nil, Clock{}, "", nil, Source{}, Program{}
	c.Hosts = nil
	for _, h := range r.Hosts {
		c.Hosts = append(c.Hosts, RunHost{Name: h.Name})
	}
	for _, t := range []*Totals{c.All, c.Read, c.Write, c.Trim} { // copies already
		if t != nil {
			t.Means, t.Sums = Means{}, Sums{}
		}
	}
	return c
}

// AppendLight appends [Run.Light] as JSON, without the members that only Elasticsearch needs.
func (r *Run) AppendLight(dst []byte) []byte {
	return appendObject(dst, reflect.ValueOf(r.Light()).Elem())
}

// UnmarshalBrief decodes [Run.Brief] of a document, in half the time of the whole document. It also decodes the fields
// whose paths are in also, such as "config.cluster.osd_ra". It may decode more.
func (r *Run) UnmarshalBrief(text []byte, also ...string) error {
	*r = Run{}
	err := json.Unmarshal(text, r)
	if len(also) == 0 {
		*r = *r.Brief()
	}
	return err
}
