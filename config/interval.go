package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
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
	d, ok := expr.ParseDuration(string(text))
	if !ok || d == 0 || Interval(d) == Auto {
		return fmt.Errorf("%s is neither a time such as 10s nor auto", text)
	}
	*i = Interval(d)
	return nil
}

// parsePrecision reads a percentile and an error, such as "p99.9:5%".
func parsePrecision(text string) (align.Precision, bool) {
	name, share, _ := strings.Cut(text, ":")
	percentile, isPercentile := strings.CutPrefix(name, "p")
	q, ok1 := expr.Percent.Parse(percentile + "%")
	e, ok2 := expr.Percent.Parse(share)
	return align.Precision{Quantile: q, Error: e}, isPercentile && ok1 && ok2 && q > 0 && q < 1 && e > 0 && e < 10
}
