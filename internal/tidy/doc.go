// Package tidy chooses runs of a history, and labels, annotates or removes them one by one. If it is interrupted,
// the changes so far stay, and the same choice finds the other runs again. It prints nothing.
package tidy
