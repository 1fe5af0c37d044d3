// Package live draws the screen of a run while fio runs: the latencies of the last seconds, a scrolling heat map,
// the remaining time, and broken rules. The lines depend only on the windows so far, the present time and the size
// of the terminal. The package does not write them.
package live
