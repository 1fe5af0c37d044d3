package evidence_test

import (
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

// TestDigest: a file has the same digest and beginning, also if it was read before.
func TestDigest(t *testing.T) {
	contents := map[string]string{
		"empty":     "",
		"digits":    strings.Repeat("7", 3*mapping.BeginDigits),
		"few":       strings.Repeat("0, ", 100<<10) + "123",
		"late":      strings.Repeat("0", 255<<10) + strings.Repeat("5", 2<<10),
		"too late":  strings.Repeat("0", 256<<10) + strings.Repeat("5", 2<<10),
		"report":    report,
		"ends with": strings.Repeat("1", mapping.BeginDigits),
	}
	for name, content := range contents {
		looked, hashed := write(t, name+".json", content), write(t, name+" again.json", content)
		looked.Printed(t.Context())
		begun := hashed.Beginning()
		if a, b := looked.Digest(), hashed.Digest(); a != b || a.Beginning != begun || looked.Beginning() != begun {
			t.Errorf("%s: %+v after a look, %+v without, begins %+v", name, a, b, begun)
		}
		if has := hashed.Digest().Begin != ""; has != (name == "digits" || name == "late" || name == "ends with") {
			t.Errorf("%s: begins %+v", name, begun)
		}
	}
}
