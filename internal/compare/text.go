package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/fio2es/fio2es/internal/unit"
)

// valueText returns a value for people.
func (c *Change) valueText(v float64, isOpen bool) string {
	return unit.OrMore(c.Unit().Text(finite(v), math.NaN(), 0), isOpen)
}

// BaseText returns the value of the base for people. A lower bound has a mark.
func (c *Change) BaseText() string { return c.valueText(c.Base, c.BaseOpen) }

// OtherText returns the value of the other side for people. A lower bound has a mark.
func (c *Change) OtherText() string { return c.valueText(c.Other, c.OtherOpen) }

// Text returns the change for people, such as "+3.1 %". It is "-" if both values are lower
// bounds.
func (c *Change) Text() string {
	if c.Bound() == "?" || math.IsNaN(c.Change) {
		return "-"
	}
	return c.Bound() + signed(c.Change) + " %"
}

// IntervalText returns the confidence interval for people, such as "-1.2 … +3.1 %".
func (c *Change) IntervalText() string {
	if c.Verdict == Unknown {
		return "-"
	}
	return signed(c.Low) + " … " + signed(c.High) + " %"
}

// VerdictText returns the verdict for people. If no change was shown, it names the largest change in the interval,
// rounded up: "no change > 2.9 %".
func (c *Change) VerdictText() string {
	if c.Verdict != Same {
		return string(c.Verdict)
	}
	percent := math.Ceil(c.reach()*1000-1e-9) / 10
	if percent == 0 {
		return "no change"
	}
	return fmt.Sprintf("no change > %.1f %%", percent)
}

// signed returns a share in percent with its sign.
func signed(share float64) string {
	x := math.Round(share*1000) / 10
	switch {
	case x == 0:
		return "0.0"
	case math.Abs(x) >= 100:
		return fmt.Sprintf("%+.0f", x)
	}
	return fmt.Sprintf("%+.1f", x)
}

// Summary returns the verdict on all lines of a comparison, such as "worse: read p99, write p99; better: read iops".
// Without such lines it is "unclear" if any line is unclear, then "no change", or "unknown" if no line is known.
func Summary(lines []Line) string {
	names := map[Verdict][]string{}
	for i := range lines {
		l := &lines[i]
		names[l.Verdict] = append(names[l.Verdict], l.Direction+" "+l.Metric.String())
	}
	var parts []string
	for _, v := range []Verdict{Worse, Better} {
		if len(names[v]) > 0 {
			parts = append(parts, string(v)+": "+strings.Join(names[v], ", "))
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, "; ")
	case len(names[Unclear]) > 0:
		return string(Unclear) + ": " + strings.Join(names[Unclear], ", ")
	case len(names[Same]) > 0:
		return "no change"
	}
	return string(Unknown)
}
