package query

import (
	"regexp"
	"slices"
	"strings"
)

// Pick says which runs of archives are wanted.
type Pick struct {
	Include, Exclude []string // patterns for archive:path; * stands for any text
}

// Compile returns a function that reports whether a run is wanted, given its archive and path.
func (p Pick) Compile() func(archive, path string) bool {
	include, exclude := patterns(p.Include), patterns(p.Exclude)
	return func(archive, path string) bool {
		matches := func(p *regexp.Regexp) bool { return p.MatchString(archive + ":" + path) }
		return (len(include) == 0 || slices.ContainsFunc(include, matches)) && !slices.ContainsFunc(exclude, matches)
	}
}

func patterns(texts []string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, t := range texts {
		out = append(out, regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(t), `\*`, `.*`)))
	}
	return out
}
