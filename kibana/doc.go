// Package kibana makes the saved objects that show the history in Kibana 8.3 or later:
// data views, panels and the dashboards Run detail, History and Compare, and imports them.
//
// The sources are the files in objects/: a file for each data view, panel and dashboard,
// and the Vega specifications as files of their own (*.vg.json). [New] assembles them
// into the form that Kibana imports and checks that every reference, field and index in
// them exists. In all sources these stand for what is known only then:
//
//	${prefix}   the prefix of index names
//	${id:NAME}  the id of the dashboard NAME
//	"${bands}"  the latency bands of heat maps and distributions, see [Bands];
//	            "${bands:low}" and "${bands:high}" are the halves of them
//
// and any name that a panel has in its "values".
//
// Each panel that a dashboard has is looked at by tests, too, which draw it in a browser
// on recorded answers: package kibanatest. Those of the heat map need its scales to have
// name cell, and its scales x, y and color.
//
// Kibana's own statistics on histogram fields are t-digest estimates, wrong by a lot over
// few documents, and none of its own heat maps takes such fields. So panels are Vega with
// hdr percentiles, or Lens on percentiles that are stored in documents; docs/kibana.md
// says what each asks.
package kibana
