// Package bulk writes the documents of runs into an Elasticsearch cluster. [Writer] packs
// them into bulk requests, sends these, sends again what failed, and finishes runs.
package bulk
