package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/where"
)

// shorthands are flags that are parts of --where.
type shorthands struct {
	where, benchmark, mode, since, until string
	labels                               map[string]string
	isIncomplete                         bool
}

func (s *shorthands) addTo(fl *pflag.FlagSet) {
	addWhereFlag(fl, &s.where)
	fl.StringVar(&s.benchmark, "benchmark", "", "only runs of this `benchmark`: benchmark=librbdfio in --where")
	fl.StringVar(&s.mode, "mode", "", "only runs of this `mode`: mode=randwrite in --where")
	fl.StringToStringVar(&s.labels, "label", nil, "only with the label `NAME=VALUE`: label.NAME=VALUE in --where")
	fl.StringVar(&s.since, "since", "", "only runs that began at or after this `time`: start>=7d in --where")
	fl.StringVar(&s.until, "until", "", "only runs that began before this `time`: start<2026-10 in --where")
	fl.BoolVar(&s.isIncomplete, "incomplete", false, "only runs that lack something: state=incomplete in --where")
}

// condition is what they say together.
func (s *shorthands) condition(now time.Time) (*where.Condition, error) {
	condition, err := parseWhere(s.where)
	if err != nil {
		return nil, err
	}
	all := []*where.Condition{condition}
	add := func(flag, field, op, value string) {
		c, failed := where.Compare(field, op, value, now)
		if failed != nil && err == nil {
			err = usagef("--%s: %w", flag, failed)
		}
		all = append(all, c)
	}
	for _, f := range []struct{ flag, field, op, value string }{
		{"benchmark", "benchmark", "=", s.benchmark}, {"mode", "mode", "=", s.mode},
		{"since", "start", ">=", s.since}, {"until", "start", "<", s.until},
	} {
		if f.value != "" {
			add(f.flag, f.field, f.op, f.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.labels)) {
		add(fmt.Sprintf("label %s=%s", name, s.labels[name]), "label."+name, "=", s.labels[name])
	}
	if s.isIncomplete {
		add("incomplete", "state", "=", "incomplete")
	}
	return where.All(all...), err
}
