// Package live draws the screen of a run while fio runs: the latencies of the last seconds, a heat map that scrolls, the
// time left, and the rules that are broken. What the lines show depends only on the windows so far, the time and the
// size of the terminal. The package writes nothing.
package live
