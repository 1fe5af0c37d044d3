// Package kibana makes the saved objects that show the history in Kibana 8.3 or later: data views, panels, and the
// dashboards Live, History, Night, Run detail and Compare. It also imports them.
//
// The sources are the files in objects/: a file for each data view, panel and dashboard, and a file for each Vega
// specification (*.vg.json). [New] makes of them the objects that Kibana imports. Tests check that every reference,
// field and index in them exists. These placeholders are replaced in all sources:
//
//	"${part:NAME}"  objects/parts/NAME.json, which is used several times; "${part:NAME a=b}" has b in place of ${a}
//	${prefix}       the prefix of index names
//	${id:NAME}      the id of the dashboard NAME
//	"${bands}"      the latency bands of heat maps and distributions;
//	                "${bands:low}", "${bands:middle}" and "${bands:high}" are the thirds of them
//
// and all names in the "values" of a panel.
//
// Tests draw each Vega panel in a browser with recorded answers: see package kibanatest. For this, a heat map must
// have scales with the names cell, x, y and color.
//
// A panel with restoreSignalValuesOnRefresh keeps the choices of users when Kibana refreshes it. Kibana restores all of
// its signals, so none may follow from data, or it would be that of the old data. Such values are in a data set, area.
//
// Kibana's own statistics on histogram fields are t-digest estimates, which have large errors for few documents. Its
// heat maps do not accept such fields. So panels are Vega with hdr percentiles, or show percentiles that are stored in
// documents.
package kibana
