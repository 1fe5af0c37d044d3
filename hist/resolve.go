package hist

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrColumns means that no fio, also no rebuilt one, writes this number of bins.
var ErrColumns = errors.New("not the number of bins of any fio histogram")

// Evidence is how well the coarseness of a log is known.
type Evidence uint8

// The evidence, from the weakest to the strongest.
const (
	Unknown Evidence = iota // no options are known
	Implied                 // the job's options do not name it, so it is 0; only decides between layouts that fit
	Stated                  // an option names it: layouts of another coarseness do not fit, except a coarser one of a released fio
)

// Hint is what a report of fio or the user says of a log's layout. Each part may be unknown, and all are in the zero
// value.
type Hint struct {
	Unit       Unit
	Groups     int // 0: unknown
	Coarseness int // log_hist_coarseness, by Evidence
	Evidence   Evidence

	// Half means that the columns from [Layout.Half] on are not counts. fio 3.6 to 3.16 copied only the first half of
	// its bins into a row. The rest of the row is old memory.
	Half bool
}

// Or returns the hint with its unknown parts taken from other.
func (h Hint) Or(other Hint) Hint {
	if h.Unit == UnknownUnit {
		h.Unit = other.Unit
	}
	if h.Groups == 0 {
		h.Groups = other.Groups
	}
	if h.Evidence == Unknown {
		h.Coarseness, h.Evidence = other.Coarseness, other.Evidence
	}
	h.Half = h.Half || other.Half
	return h
}

// String describes the known parts, such as "34 groups of ns, coarseness 1".
func (h Hint) String() string {
	var parts []string
	switch {
	case h.Groups != 0 && h.Unit != UnknownUnit:
		parts = append(parts, fmt.Sprintf("%d groups of %s", h.Groups, h.Unit))
	case h.Groups != 0:
		parts = append(parts, fmt.Sprintf("%d groups", h.Groups))
	case h.Unit != UnknownUnit:
		parts = append(parts, "groups of "+h.Unit.String())
	}
	if h.Evidence != Unknown {
		parts = append(parts, fmt.Sprintf("coarseness %d", h.Coarseness))
	}
	if len(parts) == 0 {
		return "nothing known"
	}
	return strings.Join(parts, ", ")
}

// Resolve returns the layout of a log with the given number of bins in a row. fio 3 has 1856 bins and fio 2 has 1216,
// each divided by a power of two, so these differ. Other numbers come from a fio that was built with another number of
// groups, and the hint decides between the layouts that fit. The hint also decides if a usual number means another
// layout: 1856 bins of coarseness 1 are 58 groups.
//
// Resolve fails with [ErrColumns] if no layout fits, and with a [*LayoutError] if the hint leaves several layouts or
// none.
func Resolve(columns int, hint Hint) (Layout, error) {
	var fitting, left []Layout // by the columns, and by the hint, too; from the finest to the coarsest
	for c := range maxCoarseness + 1 {
		groups := columns << c / groupBins
		if columns <= 0 || columns > MaxColumns || groups*groupBins>>c != columns || groups < MinGroups || groups > MaxGroups {
			continue
		}
		for _, unit := range []Unit{Nanoseconds, Microseconds} {
			l, err := NewLayout(unit, groups, c)
			if err != nil {
				continue
			}
			fitting = append(fitting, l)
			if (hint.Unit == UnknownUnit || hint.Unit == unit) && (hint.Groups == 0 || hint.Groups == groups) &&
				(hint.Evidence != Stated || hint.Coarseness == c) {
				left = append(left, l)
			}
		}
	}
	if len(fitting) == 0 {
		return Layout{}, fmt.Errorf("%d bins: %w", columns, ErrColumns)
	}
	if len(left) == 0 {
		if hint.Evidence == Stated { // the log may have been made coarser since
			l, err := Resolve(columns, Hint{Unit: hint.Unit, Groups: hint.Groups})
			if err == nil && l.IsUsual() && l.Coarseness() > hint.Coarseness {
				return l, nil
			}
		}
		return Layout{}, &LayoutError{Columns: columns, Hint: hint, Fits: fitting, Contradicts: true}
	}
	if hint.Evidence == Implied {
		isOther := func(l Layout) bool { return l.Coarseness() != hint.Coarseness }
		if implied := slices.DeleteFunc(slices.Clone(left), isOther); len(implied) > 0 {
			left = implied
		}
	}
	if len(left) == 1 {
		return left[0], nil
	}
	// No two layouts of released versions of fio have the same number of columns.
	if at := slices.IndexFunc(left, Layout.IsUsual); at >= 0 {
		return left[at], nil
	}
	return Layout{}, &LayoutError{Columns: columns, Hint: hint, Fits: left}
}

// LayoutError reports a number of columns whose layout is unknown, because several layouts fit or none fits the hint.
type LayoutError struct {
	Columns     int
	Hint        Hint
	Fits        []Layout // the layouts that the hint leaves, or, if it fits none, all with this number of columns
	Contradicts bool
}

// Is makes the error match [ErrLayout].
func (e *LayoutError) Is(target error) bool { return target == ErrLayout }

// Error says what was found, which layouts fit, and what to do: "2176 bins can be 34 groups (coarseness 0), of ns (fio 3)
// or us (fio 2): set FIO2ES_UNIT=ns or FIO2ES_UNIT=us, or put fio's JSON report beside the logs".
func (e *LayoutError) Error() string {
	var groups, units, byGroups, byUnit, choices []string
	for _, l := range e.Fits {
		version := 3
		if l.fio2 {
			version = 2
		}
		groups = append(groups, fmt.Sprintf("%d groups (coarseness %d)", l.Groups(), l.Coarseness()))
		units = append(units, fmt.Sprintf("%s (fio %d)", l.Unit(), version))
		byGroups = append(byGroups, fmt.Sprintf("FIO2ES_GROUPS=%d", l.Groups()))
		byUnit = append(byUnit, fmt.Sprintf("FIO2ES_UNIT=%s", l.Unit()))
	}
	fits := either(groups) + ", of " + either(units)
	if e.Contradicts {
		return fmt.Sprintf("%d bins contradict %s: they can be %s; correct FIO2ES_GROUPS and FIO2ES_UNIT, or drop them if "+
			"fio's JSON report is beside the logs", e.Columns, e.Hint, fits)
	}
	for _, settings := range [][]string{byGroups, byUnit} {
		if text := either(settings); strings.Contains(text, " or ") {
			choices = append(choices, text)
		}
	}
	return fmt.Sprintf("%d bins can be %s: set %s, or put fio's JSON report beside the logs", e.Columns, fits, strings.Join(choices, ", and "))
}

// either joins the names by "or", without duplicates.
func either(names []string) string {
	var once []string
	for _, n := range names {
		if !slices.Contains(once, n) {
			once = append(once, n)
		}
	}
	return strings.Join(once, " or ")
}
