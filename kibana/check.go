package kibana

import (
	"errors"
	"fmt"
)

// check finds what Kibana's import does not: it takes a dashboard whose panels are missing
// and a search for fields that no document has.
func (b *Bundle) check(mapped *fields) error {
	faults := append(b.checkReferences(), b.checkUse()...)
	for i := range b.Requests {
		r := &b.Requests[i]
		fields := mapped.of(r.Index)
		if fields == nil {
			faults = append(faults, fmt.Errorf("panel %s, data set %s: index %q is none of ours", r.Panel, r.Data, r.Index))
			continue
		}
		err := r.check(fields)
		if err == nil && mapped.isVersioned(r.Index) {
			err = r.checkShown()
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("panel %s, data set %s: %w", r.Panel, r.Data, err))
		}
	}
	return errors.Join(faults...)
}

type objectKey struct{ typ, id string }

func (b *Bundle) checkReferences() []error {
	var faults []error
	known := map[objectKey]bool{}
	ids := map[string]bool{}
	for _, o := range b.Objects {
		if ids[o.ID] {
			faults = append(faults, fmt.Errorf("two objects have the id %s", o.ID))
		}
		known[objectKey{o.Type, o.ID}], ids[o.ID] = true, true
		for _, r := range o.References {
			if !known[objectKey{r.Type, r.ID}] {
				faults = append(faults, fmt.Errorf("%s %s refers to %s %s, which is not before it", o.Type, o.ID, r.Type, r.ID))
			}
		}
	}
	return faults
}

// checkUse finds panels that are on no dashboard.
func (b *Bundle) checkUse() []error {
	used := map[objectKey]bool{}
	for _, o := range b.Objects {
		for _, r := range o.References {
			used[objectKey{r.Type, r.ID}] = true
		}
	}
	var faults []error
	for _, o := range b.Objects {
		if o.Type != typeDashboard && o.Type != typeDataView && !used[objectKey{o.Type, o.ID}] {
			faults = append(faults, fmt.Errorf("%s %s is on no dashboard", o.Type, o.ID))
		}
	}
	return faults
}
