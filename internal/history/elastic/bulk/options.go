package bulk

import (
	"cmp"

	"github.com/fio2es/fio2es/mapping"
)

// Options are the settings of a [Writer]. The zero value has good defaults.
type Options struct {
	Prefix    string // prefix of index names; default [mapping.DefaultPrefix]
	BodyBytes int    // limit of a request before compression (one larger document is sent alone); default 5 MiB
	InFlight  int    // requests at the same time; default 2

	// RejectFile is the path of the file for documents that the cluster rejects for good, with the reasons.
	// [ReadRejects] reads it. It is created with the first reject, and appended to if it exists. Without a path, a
	// rejected document makes its run fail.
	RejectFile string
	MaxRejects int // more rejects end the writer, because then the cause is not single documents; default 1000

	NoVerify    bool // do not compare the number of a run's documents with the number in the cluster
	NoTemplates bool // write even if the cluster lacks the index templates of fio2es setup
}

func (o Options) withDefaults() Options {
	o.Prefix = cmp.Or(o.Prefix, mapping.DefaultPrefix)
	o.BodyBytes = cmp.Or(o.BodyBytes, 5<<20)
	o.InFlight = cmp.Or(o.InFlight, 2)
	o.MaxRejects = cmp.Or(o.MaxRejects, 1000)
	return o
}
