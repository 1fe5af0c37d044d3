package fioargs

import (
	"fmt"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Version is a version of fio, without its patch number.
type Version struct{ Major, Minor int }

// Versions since which fio has features that fio2es uses.
var (
	HasHistogramLogs = Version{2, 14} // write_hist_log, log_hist_msec, log_unix_epoch; json+ is older
	HasJobStart      = Version{3, 36} // reports have the time at which each job began
)

// ParseVersion parses the output of fio --version, such as "fio-3.33" or "fio-3.36-17-g1a2b-dirty".
func ParseVersion(text string) (Version, error) {
	var v Version
	name, ok := strings.CutPrefix(strings.TrimSpace(text), "fio-")
	if _, err := fmt.Sscanf(name, "%d.%d", &v.Major, &v.Minor); !ok || err != nil || v.Major < 0 || v.Minor < 0 {
		return Version{}, fmt.Errorf("%q is no version of fio: want one such as fio-3.33", text)
	}
	return v, nil
}

// Before reports whether a version is older than another.
func (v Version) Before(other Version) bool {
	return v.Major < other.Major || v.Major == other.Major && v.Minor < other.Minor
}

// WritesHalf reports whether this fio is 3.6 to 3.16. These versions write contents of their memory into histogram
// logs in place of the counts of slow requests.
func (v Version) WritesHalf() bool { return (&fiolog.Report{Version: v.String()}).WritesHalf() }

func (v Version) String() string { return fmt.Sprintf("fio-%d.%d", v.Major, v.Minor) }
