// Package facts has what tables, pages and messages show of a run: its title, its settings and the latencies of its
// directions. Each is a column that internal/table can write, so commands, reports and pages for browsers show the
// same.
//
// Latencies are in microseconds.
package facts
