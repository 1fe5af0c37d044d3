// Package kibanatest stands in for Kibana in tests. [Resolve] makes of a Vega panel's
// data set the search that Kibana sends for it, and [Browser] draws the panel on
// recorded answers, with the same library and colours as Kibana, in a browser without a
// window.
//
// What it does is what Kibana 8.3 does, as its sources and its requests show; later
// versions do the same.
package kibanatest
