package junit

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	var out strings.Builder
	err := Write(&out, Suite{"nightly", []Case{
		{"new against old", "p99 > +10%: read", Passed, "+1.2 %"}, {"new against old", "p99 > +10%: write", Failed, "+12 % <\x00>"},
		{"c", "unclear", Skipped, "wide"}, {"c", "unknown", Errored, "few"},
	}})
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1" skipped="1">
  <testsuite name="nightly" tests="4" failures="1" errors="1" skipped="1">
    <testcase classname="new against old" name="p99 &gt; +10%: read">
      <system-out>+1.2 %</system-out>
    </testcase>
    <testcase classname="new against old" name="p99 &gt; +10%: write">
      <failure message="+12 % &lt;` + "\uFFFD" + `&gt;"></failure>
    </testcase>
    <testcase classname="c" name="unclear">
      <skipped message="wide"></skipped>
    </testcase>
    <testcase classname="c" name="unknown">
      <error message="few"></error>
    </testcase>
  </testsuite>
</testsuites>
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}
