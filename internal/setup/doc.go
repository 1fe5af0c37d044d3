// Package setup installs the templates of package mapping/templates in an Elasticsearch
// cluster: it compares what is there with what should be, tells it as a [Plan], and
// carries the plan out. A second run finds nothing to do.
//
// It never undoes the work of others. An object of the right name that fio2es does not
// manage is refused ([ErrForeign]), and so is one that a newer fio2es has installed
// ([ErrNewer]); then nothing at all is sent. Indices that exist get the fields that newer
// templates have and they lack; one whose fields cannot be mended is reported
// ([ErrConflict]), and the rest is installed all the same.
//
// It is for the setup command. Requests go through an [elastic.Client].
package setup
