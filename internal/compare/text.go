package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/fio2es/fio2es/internal/unit"
)

// valueText is a metric's value for people.
func (m Metric) valueText(v float64, isOpen bool) string {
	switch {
	case m.IsLatency():
		return unit.LatencyOrMore(v/1000, isOpen)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	}
	return unit.Rate(v)
}

// BaseText is the baseline's value for people, a lower bound with its mark.
func (c *Change) BaseText() string { return c.valueText(c.Base, c.BaseOpen) }

// OtherText is the other value for people, a lower bound with its mark.
func (c *Change) OtherText() string { return c.valueText(c.Other, c.OtherOpen) }

// Text is the change for people: "+3.1 %". Where both values are lower bounds, there is none.
func (c *Change) Text() string {
	if c.Bound() == "?" && c.Metric != Mean {
		return "-"
	}
	text := "-"
	if !math.IsNaN(c.Change) {
		text = signed(c.Change) + " %"
	}
	return strings.TrimSuffix(c.Bound(), "?") + text
}

// IntervalText is the confidence interval for people: "-1.2 … +3.1 %".
func (c *Change) IntervalText() string {
	if c.Verdict == Unknown {
		return "-"
	}
	return signed(c.Low) + " … " + signed(c.High) + " %"
}

// signed is a share in percent, with its sign.
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
