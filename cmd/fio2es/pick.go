package main

import (
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
)

// pick tells which of an archive's runs are wanted.
type pick struct {
	include, exclude []string
	shard            string
}

// compile gives the test for a run, named by its archive and path.
func (p pick) compile() (func(archive, path string) bool, error) {
	include, exclude := patterns(p.include), patterns(p.exclude)
	part, parts, err := parseShard(p.shard)
	if err != nil {
		return nil, err
	}
	return func(archive, path string) bool {
		name := archive + ":" + path
		if len(include) > 0 && !matches(include, name) || matches(exclude, name) {
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

func matches(patterns []*regexp.Regexp, name string) bool {
	for _, p := range patterns {
		if p.MatchString(name) {
			return true
		}
	}
	return false
}

// parseShard reads "2/3"; nothing is 1/1.
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

// shardOf is the part of a run: by its name alone, so that every machine agrees,
// whatever it was given to look through.
func shardOf(name string, parts int) int {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int(h.Sum64()%uint64(parts)) + 1
}
