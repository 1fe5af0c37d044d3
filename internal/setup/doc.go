// Package setup installs the templates of package mapping/templates in an Elasticsearch cluster. It compares what the
// cluster has with what it should have, prints that as a [Plan], and applies the plan. A second setup finds nothing to do.
//
// It never undoes the work of others. An object with one of its names that fio2es does not manage is refused
// ([ErrForeign]), and so is one that a newer fio2es has installed ([ErrNewer]); then nothing at all is sent. Existing
// indices get the fields that they lack. An index with a field of another type is reported ([ErrConflict]), and
// everything else is installed.
//
// The setup command uses it. Requests are sent through an [es.Client].
package setup
