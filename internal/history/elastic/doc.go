// Package elastic is the history in an Elasticsearch cluster. [Store] reads it, and writes to
// it through package bulk.
package elastic
