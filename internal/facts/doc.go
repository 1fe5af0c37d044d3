// Package facts has what tables, pages and messages say of a run: its title, its settings and the latencies of its
// directions. Each is a column that internal/table can write, so commands, reports and pages for browsers say the same.
//
// Latencies are in microseconds.
package facts
