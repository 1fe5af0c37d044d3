package query

import (
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Pick says which runs of archives are wanted.
type Pick struct {
	Include, Exclude []string // patterns for archive:path; * stands for any text
	Shard            string   // "2/3" is the second of three parts of the runs; empty means all runs
}

// Compile returns a function that reports whether a run is wanted, given its archive and path. A wrong shard is a
// [UsageError].
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

// parseShard parses text such as "2/3". The empty text means 1/1.
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

// shardOf returns the part of a run. It depends only on the name, so machines that read different folders agree.
func shardOf(name string, parts int) int {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int(h.Sum64()%uint64(parts)) + 1
}
