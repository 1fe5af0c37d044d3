// Package ndjson writes documents as the lines that Elasticsearch's _bulk takes.
package ndjson
