// Package tidy chooses runs of a history to label, annotate or remove, and does so one run after another. What is done
// for some runs stays done if it is interrupted, and the same choice finds the others again. It prints nothing.
package tidy
