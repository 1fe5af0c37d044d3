package setup

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/mapping/templates"
)

// rivals returns refusals because of templates of others that match our indices. If they have the same priority, the
// cluster would refuse our templates. If theirs is higher, it would use their templates without an error, and
// histograms would become arrays of numbers.
func rivals(steps []Step, there map[string]object) []Step {
	var found []Step
	ours := map[string]bool{}
	for _, s := range steps {
		ours[s.Name] = ours[s.Name] || s.Kind == templates.Index
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if ours[name] {
			continue
		}
		if s, ok := rival(name, there[name], steps); ok {
			found = append(found, s)
		}
	}
	return found
}

func rival(name string, theirs object, steps []Step) (Step, bool) {
	for _, s := range steps {
		if s.Kind != templates.Index {
			continue
		}
		own := s.Body
		if number(theirs["priority"]) < number(own["priority"]) {
			continue
		}
		for _, a := range texts(theirs["index_patterns"]) {
			for _, b := range texts(own["index_patterns"]) {
				if overlap(a, b) {
					r := Step{Kind: templates.Index, Name: name}
					r.refuse(ErrForeign, "it matches %s with priority %v, and %s matches %s with %v; give it a lower priority, or choose another prefix",
						a, theirs["priority"], s.Name, b, own["priority"])
					return r, true
				}
			}
		}
	}
	return Step{}, false
}

func number(v any) float64 {
	var f float64
	_, _ = fmt.Sscan(fmt.Sprint(v), &f) // on failure 0, which is the priority of a template without one
	return f
}

// texts returns a text, or the texts of an array.
func texts(v any) []string {
	items, isList := v.([]any)
	if !isList {
		items = []any{v}
	}
	var all []string
	for _, item := range items {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// overlap reports whether a name can match both patterns, in which * means any text.
func overlap(a, b string) bool {
	// can[j]: a name can match the first i bytes of a and the first j bytes of b
	can := make([]bool, len(b)+1)
	for i := range len(a) + 1 {
		before := make([]bool, len(b)+1) // can for i-1
		copy(before, can)
		for j := range len(b) + 1 {
			starA, starB := i > 0 && a[i-1] == '*', j > 0 && b[j-1] == '*'
			switch {
			case i == 0 && j == 0:
				can[j] = true
			case starA || starB:
				// a star matches a byte of the other pattern, or nothing
				can[j] = i > 0 && before[j] || j > 0 && can[j-1]
			default:
				can[j] = i > 0 && j > 0 && a[i-1] == b[j-1] && before[j-1]
			}
		}
	}
	return can[len(b)]
}
