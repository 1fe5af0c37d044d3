package cbt

import (
	"strconv"

	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Left is a file that belongs to no run.
type Left struct {
	File   *source.File
	Reason string
	// Notable means that people may expect it to be read: it is a log or a report, or
	// they named it.
	Notable bool
	// More is how many other files have the same kind of reason and are not listed:
	// ten of each kind are.
	More int
}

const foundTwice = "found twice: it was given twice"

// leftovers are the files that belong to no run.
type leftovers []Left

func (l *leftovers) add(f *source.File, reason string) {
	*l = append(*l, Left{File: f, Reason: reason, Notable: f.Named})
}

// addNotable adds a file that people may expect to be read.
func (l *leftovers) addNotable(f *source.File, reason string) {
	*l = append(*l, Left{File: f, Reason: reason, Notable: true})
}

// firstTen keeps ten files for each kind of reason. The last of them has the number of the files that are left out.
func (l leftovers) firstTen() []Left {
	var kinds alike.Counter
	last := map[string]int{}
	first := l[:0]
	for _, one := range l {
		kind := alike.Kind(one.Reason) + strconv.FormatBool(one.Notable)
		if kinds.Add(kind) {
			last[kind] = len(first)
			first = append(first, one)
		}
	}
	kinds.More(func(kind string, n int) {
		if at, ok := last[kind]; ok {
			first[at].More = n
		}
	})
	return first
}
