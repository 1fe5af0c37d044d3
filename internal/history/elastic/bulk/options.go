package bulk

import "github.com/fio2es/fio2es/mapping"

// Options are the settings of a [Writer]. The zero value has good defaults.
type Options struct {
	Prefix string // prefix of index names; default [mapping.DefaultPrefix]
	// limit of a request in bytes before compression (one larger document is sent alone); default 5 MiB, at most 90
	// MiB
	BodyBytes int
	InFlight  int // requests at the same time, 1 to 4; default 2

	// RejectFile is the path of the file for documents that the cluster rejects for good, with the reasons.
	// [ReadRejects] reads it. It is created with the first reject, and appended to if it exists. Without a path, a
	// rejected document makes its run fail.
	RejectFile string
	MaxRejects int // more rejects end the writer, because then the cause is not single documents; default 1000

	NoVerify bool // do not compare the number of a run's documents with the number in the cluster

	NoTemplates bool // write even if the cluster lacks the index templates of fio2es setup
}

const (
	defaultBody = 5 << 20
	mostBody    = 90 << 20 // below Elasticsearch's default of http.max_content_length, 100 MiB
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
	return o
}
