// Package testcost makes the tests of a package faster if they have many cases. It is only for tests.
package testcost

import (
	"flag"
	"runtime/debug"
)

// Lower makes property tests draw fewer cases than rapid's default, and the collector run less often for small
// heaps. TestMain calls it before it runs the tests. CI draws many cases for all packages that call it.
func Lower() {
	_ = flag.Set("rapid.checks", "20") // fails if no test uses rapid, so that there is no such flag
	debug.SetGCPercent(400)
}
