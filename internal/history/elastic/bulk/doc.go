// Package bulk writes the documents of runs to an Elasticsearch cluster. A [Writer] packs them into bulk requests,
// sends these, retries failures, and finishes runs.
package bulk
