// Package testcost gives the random tests of a package a fixed seed, and makes tests faster. It is only for tests. Each
// package that draws random cases imports it.
//
// Without settings a test draws the same cases each time, so no test fails by chance. RAPID_SEED=7 or
// -rapid.seed=7 draws others; CI does so with a new seed each time.
package testcost

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"

	_ "pgregory.net/rapid" // defines the flags
)

func init() {
	set("rapid.seed", "RAPID_SEED", "1")
	debug.SetGCPercent(400) // the heaps of tests are small, and would be collected often
}

// Lower makes property tests draw fewer cases than rapid's default. TestMain calls it before it runs the tests. CI draws
// many cases for all packages that call it.
func Lower() {
	set("rapid.checks", "RAPID_CHECKS", "10")
}

// Seed returns the seed in effect, for tests that make their own random numbers.
func Seed() uint64 {
	n, err := strconv.ParseUint(flag.Lookup("rapid.seed").Value.String(), 0, 64)
	if err != nil {
		panic(err) // it is rapid's flag, and always a number
	}
	return n
}

// set changes the default of a flag, unless an environment variable has given another one.
func set(name, variable, value string) {
	if _, given := os.LookupEnv(variable); given {
		return
	}
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}
