// Package kibana makes the saved objects that show the history in Kibana 8.3 or later: data views, panels and the
// dashboards Run detail, History and Compare. It imports them, too.
//
// The sources are the files in objects/: a file for each data view, panel and dashboard, and the Vega specifications as
// separate files (*.vg.json). [New] assembles them into the form that Kibana imports. The tests check that every
// reference, field and index in them exists. These placeholders are replaced in all sources:
//
//	"${part:NAME}"  objects/parts/NAME.json, which several panels have
//	${prefix}       the prefix of index names
//	${id:NAME}      the id of the dashboard NAME
//	"${bands}"      the latency bands of heat maps and distributions;
//	                "${bands:low}" and "${bands:high}" are the halves of them
//
// and any name that a panel has in its "values".
//
// Tests draw each Vega panel in a browser on recorded answers: package kibanatest. A heat map needs scales with the names
// cell, x, y and color for that.
//
// Kibana's own statistics on histogram fields are t-digest estimates, which are far off for few documents, and none of
// its own heat maps takes such fields. So panels are Vega with hdr percentiles, or Lens on percentiles that are stored in
// documents. docs/kibana.md says what each panel queries.
package kibana
