package query

import (
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Pick says which of an archive's runs are wanted.
type Pick struct {
	Include, Exclude []string // texts in archive:path, in which * stands for any text
	Shard            string   // "2/3" is the second of three parts of the runs; empty is all
}

// Compile makes the test of a run, named by its archive and path. A wrong shard is a [UsageError].
func (p Pick) Compile() (func(archive, path string) bool, error) {
	include, exclude := patterns(p.Include), patterns(p.Exclude)
	part, parts, err := parseShard(p.Shard)
	if err != nil {
		return nil, err
	}
	return func(archive, path string) bool {
		name := archive + ":" + path
		matches := func(p *regexp.Regexp) bool { return p.MatchString(name) }
		if len(include) > 0 && !slices.ContainsFunc(include, matches) || slices.ContainsFunc(exclude, matches) {
			return false
		}
		return parts == 1 || shardOf(name, parts) == part
	}, nil
}

func patterns(texts []string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, t := range texts {
		out = append(out, regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(t), `\*`, `.*`)))
	}
	return out
}

// parseShard reads "2/3"; the empty text is 1/1.
func parseShard(text string) (part, parts int, err error) {
	if text == "" {
		return 1, 1, nil
	}
	i, n, ok := strings.Cut(text, "/")
	part, err1 := strconv.Atoi(i)
	parts, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || part < 1 || parts < part {
		return 0, 0, usagef("--shard %s: want I/N with I from 1 to N", text)
	}
	return part, parts, nil
}

// shardOf is the part of a run. It depends on the name alone, so machines agree that look through
// different folders.
func shardOf(name string, parts int) int {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int(h.Sum64()%uint64(parts)) + 1
}
