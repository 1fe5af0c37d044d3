// Package elastic is the history in an Elasticsearch cluster. [Store] reads it, and writes to it.
package elastic
