package bulk

import (
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// Options are the settings of a [Writer]. The zero value is a good one.
type Options struct {
	Prefix    string // of the names of indices; default [mapping.DefaultPrefix]
	BodyBytes int    // of a request, before compression, unless one document is larger; default 5 MiB, at most 90 MiB
	InFlight  int    // requests at once, 1 to 4; default 2

	// RejectFile is where documents go that the cluster rejects for good, with the reason.
	// [ReadRejects] reads it. It is created for the first one, and appended to if it exists.
	// Without a file such a document makes its run fail.
	RejectFile string
	MaxRejects int // more of them end everything, because then something else is wrong; default 1000

	NoVerify bool // do not compare the number of a run's documents with those in the cluster

	// Templates are index templates that must exist before anything is written. Nil means
	// those of fio2es setup for Prefix, an empty slice none.
	Templates       []string
	TemplateVersion int // that they have at least (_meta.version); 0 means any
}

// Stats counts what was done so far.
type Stats struct {
	Queued   int64 // documents that were taken, including those of runs
	Sent     int64 // documents in requests; a retry counts again
	Indexed  int64 // documents that the cluster has confirmed
	Retried  int64 // documents that were sent again
	Rejected int64 // documents that were rejected for good
	Bytes    int64 // sent, before compression
	Wire     int64 // sent, after it
	Requests int64 // bulk requests
	TooMany  int64 // requests that the cluster refused, or some of their items, with status 429
	Body     int   // bytes that a request may have at present
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
		o.Templates = templates.Names(o.Prefix)
	}
	return o
}
