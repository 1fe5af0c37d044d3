// Package setup installs the templates of package mapping/templates in an Elasticsearch cluster. It compares what
// the cluster has with what it should have, prints the differences as a [Plan], and applies the plan. A second setup
// has nothing to do.
//
// Setup does not overwrite the work of others. It refuses to change an object with one of its names that fio2es does
// not manage ([ErrForeign]), or that a newer fio2es installed ([ErrNewer]). Then it sends nothing at all. Existing
// indices get the fields that they lack. An index with a field of another type is reported ([ErrConflict]), and
// everything else is installed.
//
// Requests are sent with an [es.Client].
package setup
