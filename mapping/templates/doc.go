// Package templates holds what an Elasticsearch cluster must know before the first
// document comes: the lifecycle policy, the component templates and the index templates
// of the four families of indices, as readable JSON files beside the code. Package
// internal/setup installs them; sinks ask for [Names] to see that they are there.
//
// Why a template is no luxury: without one, Elasticsearch guesses. It takes
// latency.histogram for an object with two arrays of numbers and names for prose, says
// 200, and every percentile asked afterwards is empty.
//
// # Types
//
// The fixed part of a document is strict: a field that no template knows is refused, with
// its name, rather than guessed at. Whole numbers are long and all others double, which
// hold what package mapping writes to the last digit; index.mapping.coerce is off, so that
// 1.5 in place of a whole number is refused, not cut to 1. Identities (run.id, run.ingest,
// level, fio.direction) are keywords without a limit; other keywords beyond 1,024
// characters stay readable but cannot be searched.
//
// run.labels is an object of keywords whose names come from the documents, because only
// then Kibana lists them for filters, controls and break-downs; a dot in a label's name is
// a dot ("subobjects": false), so that labels "a" and "a.b" do not clash. config and
// fio.options, which can hold hundreds of names, are one flattened field each.
//
// The package does no I/O and knows of no server.
package templates
