package assign

import (
	"slices"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// SectionsOf returns the sections of a group from the job file: the one that the report names, which is the first of the
// group, and those behind it until a stonewall or new_group. It returns none if these lack the section whose options the
// report lists. Then the file was changed after the run, or it is another file.
func (r *Run) SectionsOf(e *Entry) []*fioargs.Section {
	isListed := func(s *fioargs.Section) bool {
		for name, value := range e.Own {
			if o, _ := s.Get(name); o.Value != value {
				return false
			}
		}
		return true
	}
	if !e.IsGroup {
		return nil
	}
	for _, group := range r.groups() {
		i := slices.IndexFunc(group, func(s *fioargs.Section) bool { return s.Name == e.Name })
		if i >= 0 && slices.ContainsFunc(group[i:], isListed) {
			return group[i:]
		}
	}
	return nil
}

// groups returns the sections of the job file by their groups (groupid), as fio would form them.
func (r *Run) groups() (groups [][]*fioargs.Section) {
	for i, s := range r.Sections {
		if i == 0 || s.IsOn("stonewall") || s.IsOn("new_group") {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], s)
	}
	return groups
}
