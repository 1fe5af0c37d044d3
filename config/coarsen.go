package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
)

// parseCoarseness returns the coarseness that a text asks for: a number, 0 … 6, as fio's log_hist_coarseness; the largest
// distance of a latency from the middle of its bin, "5%"; or the digits that are right, "2 digits", which is half a unit
// of the last one: 5 % of 1.0. It is 0 for an empty text. The error says what was wanted.
func parseCoarseness(text string) (int, error) {
	const want = "a coarseness from 0 to 6, the largest error such as 5%, or such as 2 digits"
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	if c, err := strconv.Atoi(text); err == nil {
		if c < 0 || c > hist.Fio3(0).Coarser(math.MaxInt).Coarseness() {
			return 0, errors.New(want)
		}
		return c, nil
	}
	bound, ok := expr.Percent.Parse(text)
	if number, isDigits := strings.CutSuffix(strings.TrimSuffix(text, "s"), "digit"); isDigits {
		digits, err := strconv.Atoi(strings.TrimSpace(number))
		bound, ok = 0.5*math.Pow10(1-digits), err == nil && digits > 0
	}
	if !ok {
		return 0, errors.New(want)
	}
	c, ok := hist.CoarsenessFor(bound)
	if !ok {
		return 0, fmt.Errorf("%s: fio's finest bins are known to %v %%", want, 100*hist.Fio3(0).RelativeError())
	}
	return c, nil
}

// Coarsened says what bins of a coarseness mean.
func Coarsened(coarseness int) string {
	l := hist.Fio3(coarseness)
	return fmt.Sprintf("coarseness %d, %d bins for fio's %d: from 64 ns on, latencies are at most %v %% from the middles of their bins, "+
		"and percentiles are off by less than %v %%", coarseness, l.Len(), hist.Fio3(0).Len(), 100*l.RelativeError(), 200*l.RelativeError())
}
