// Package kibanatest stands in for Kibana in tests. [Resolve] makes the search that Kibana sends for a data set of a
// Vega panel. [ReadAnswer] reads a recorded answer to it.
//
// Its behaviour is that of Kibana 8.3, taken from Kibana's sources and requests. Later versions behave in the same
// way.
package kibanatest
