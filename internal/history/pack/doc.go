// Package pack has the form in which histories store documents of their own, and lists of runs read them: with a checksum, compressed,
// and read only as far as a list needs them.
package pack
