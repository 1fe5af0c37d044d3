package bulk

import (
	"github.com/fio2es/fio2es/mapping"
)

// Options are the settings of [New]. The zero value is a good one.
type Options struct {
	Prefix    string // begins the names of indices; default [mapping.DefaultPrefix]
	BodyBytes int    // of a request, before compression, unless one document is larger; default 5 MiB, at most 90 MiB
	InFlight  int    // requests at once, 1 to 4; default 2

	// RejectFile is where documents go that the cluster refuses for good, with the reason;
	// [ReadRejects] reads it. It is made for the first one, and appended to if it exists. Without a file such a document makes its run fail.
	RejectFile string
	MaxRejects int // more of them end everything, because then something else is wrong; default 1000

	NoVerify bool // do not count a run's documents in the cluster at its end

	// Templates are index templates that must be there before anything is written; nil are
	// those of fio2es setup for Prefix, an empty slice none.
	Templates       []string
	TemplateVersion int // that they must have at least (_meta.version); 0 is any
}

// Stats is what was done so far.
type Stats struct {
	Queued   int64 // documents that were taken, those of runs too
	Sent     int64 // documents in requests; those sent again count again
	Indexed  int64 // documents that the cluster has confirmed
	Retried  int64 // documents that were sent again
	Rejected int64 // documents that were refused for good
	Bytes    int64 // sent, before compression
	Wire     int64 // sent, after it
	Requests int64 // bulk requests
	TooMany  int64 // requests, whole or in part, that were too much for the cluster: status 429
	Body     int   // bytes that a request may have at present
	InFlight int   // requests that may be under way at present
}

const (
	defaultBody = 5 << 20
	mostBody    = 90 << 20 // http.max_content_length is 100 MiB unless set otherwise
	mostFlight  = 4
)

func (o Options) withDefaults() Options {
	if o.Prefix == "" {
		o.Prefix = mapping.DefaultPrefix
	}
	if o.BodyBytes <= 0 {
		o.BodyBytes = defaultBody
	}
	o.BodyBytes = min(o.BodyBytes, mostBody)
	if o.InFlight <= 0 {
		o.InFlight = 2
	}
	o.InFlight = min(o.InFlight, mostFlight)
	if o.MaxRejects <= 0 {
		o.MaxRejects = 1000
	}
	if o.Templates == nil {
		latency := o.Prefix + "-latency-"
		o.Templates = []string{
			latency + mapping.Cluster.String(), latency + mapping.Host.String(), latency + mapping.Job.String(),
			mapping.RunsIndex(o.Prefix),
		}
	}
	return o
}
