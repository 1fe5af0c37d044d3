// Package testcost lowers what the tests of a package cost, where many cases take long. It is for tests only.
package testcost

import (
	"flag"
	"runtime/debug"
)

// Lower has property tests draw fewer cases than rapid would, and the collector run less often over small heaps.
// TestMain calls it before it runs the tests. CI draws many cases for all packages that call it.
func Lower() {
	_ = flag.Set("rapid.checks", "20") // there is none where no property is tested
	debug.SetGCPercent(400)
}
