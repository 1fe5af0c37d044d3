// Package templates has what an Elasticsearch cluster needs before the first document: the lifecycle policy, the
// component templates and the index templates of the families of indices. They are JSON files beside the code.
// Fields that these files do not have come from the types of package mapping. Package internal/setup installs the
// templates. Stores look up [Names] before they write.
//
// Without a template Elasticsearch guesses the types of fields. It takes latency.histogram for an object with two
// arrays of numbers and names for prose, accepts the document, and every percentile is empty later.
//
// # Types
//
// The fixed part of a document is strict: a field that the template does not have is refused with its name. Whole
// numbers are long and all others double, which keep every digit that package mapping writes. index.mapping.coerce is
// off, so 1.5 in place of a whole number is refused, not cut to 1. Identities (run.id, run.ingest, level,
// fio.direction) are keywords without a limit. Other keywords beyond 1,024 characters can be read but not searched.
//
// run.labels is an object of keywords whose names come from the documents, because Kibana then lists them for
// filters, controls and break-downs. A dot in the name of a label is a dot ("subobjects": false), so labels "a" and
// "a.b" do not clash. config and fio.options, which can have hundreds of names, are one flattened field each.
//
// The package does no I/O and knows no server.
package templates
