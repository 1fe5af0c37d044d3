package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/pipeline/align"
)

// Interval is the length of windows, or [Auto]. Zero means that each run decides; its text is empty.
type Interval time.Duration

// Auto makes windows as short as the wanted precision allows.
const Auto Interval = -1

// String implements [fmt.Stringer].
func (i Interval) String() string {
	switch i {
	case 0:
		return ""
	case Auto:
		return "auto"
	}
	return time.Duration(i).String()
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (i *Interval) UnmarshalText(text []byte) error {
	switch string(text) {
	case "":
		*i = 0
		return nil
	case "auto":
		*i = Auto
		return nil
	}
	d, err := time.ParseDuration(string(text))
	if err != nil || d == 0 || Interval(d) == Auto {
		return fmt.Errorf("%s is neither a time such as 10s nor auto", text)
	}
	*i = Interval(d)
	return nil
}

// parsePrecision reads a percentile and an error, such as "p99.9:5%".
func parsePrecision(text string) (align.Precision, bool) {
	name, share, ok := strings.Cut(text, ":")
	percentile, ok1 := strings.CutPrefix(name, "p")
	percent, ok2 := strings.CutSuffix(share, "%")
	q, err1 := strconv.ParseFloat(percentile, 64)
	e, err2 := strconv.ParseFloat(percent, 64)
	ok = ok && ok1 && ok2 && err1 == nil && err2 == nil && q > 0 && q < 100 && e > 0 && e < 1000
	return align.Precision{Quantile: q / 100, Error: e / 100}, ok
}
