// Package kibanatest stands in for Kibana in tests. [Resolve] makes of a Vega panel's
// data set the search that Kibana sends for it. [ReadAnswer] reads a recorded answer to it.
//
// What it does is what Kibana 8.3 does, as its sources and its requests show; later
// versions do the same.
package kibanatest
