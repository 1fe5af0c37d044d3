package mapping_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
)

// sourceOf is a source of files written as ROLE:CONTENT, ROLE:CONTENT=FORMAT-NUMBERS or ROLE:CONTENT=FORMAT-NUMBERS/SAYS, such as
// "log:a"; a small letter is of 5,000 bytes, "tiny-…" of 100, "empty-…" of none. Reports with the same numbers are one in several
// formats, and those that say the same are one in several files.
func sourceOf(files string) *mapping.Source {
	s := &mapping.Source{}
	for _, f := range strings.Fields(files) {
		role, content, _ := strings.Cut(f, ":")
		content, begin, _ := strings.Cut(content, "=")
		begin, says, _ := strings.Cut(begin, "/")
		bytes := int64(5000)
		switch {
		case strings.HasPrefix(content, "tiny"):
			bytes = 100
		case strings.HasPrefix(content, "empty"):
			bytes = 0
		}
		s.List = append(s.List, mapping.SourceFile{Path: content, Role: role, Bytes: bytes, Hash: content, Begin: begin, Says: says})
	}
	return s
}

func TestSameExecution(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"the same files":                         {"report:r log:a", "report:r log:a", true},
		"nothing in common":                      {"report:r log:a", "report:s log:b", false},
		"another host's files arrived":           {"report:r log:a", "report:r log:a report:s log:b", true},
		"the report alone, then its logs":        {"report:r", "report:r log:a log:b", true},
		"logs alone, then their report":          {"log:a", "report:r log:a", true},
		"logs alone, one more arrived":           {"log:a", "log:a log:b", true},
		"other logs alone":                       {"log:a", "log:b", false},
		"all reports differ, a log was left":     {"report:r log:a log:b", "report:s log:c log:b", false},
		"configuration is shared":                {"report:r config:c", "report:s config:c", false},
		"only configuration":                     {"config:c", "config:c", false},
		"empty logs":                             {"log:a log:empty", "log:b log:empty", false},
		"a small log in common":                  {"log:a log:tiny", "log:b log:tiny", false},
		"all logs are small, and the same":       {"log:tiny1 log:tiny2", "log:tiny2 log:tiny1", true},
		"all logs of one are small, and there":   {"log:tiny1", "report:r log:tiny1", true},
		"one report of two log prefixes":         {"report:r log:a", "report:r log:b", false},
		"one report of two prefixes, no hist":    {"report:r raw:a", "report:r raw:b", false},
		"histogram logs, then source raw":        {"report:r log:a", "report:r log:a raw:b", true},
		"the same, without the histogram logs":   {"report:r log:a", "report:r raw:b", true},
		"output that covers nothing":             {"report:r other:x", "report:s other:x", false},
		"a report here that covers nothing else": {"report:r", "other:r", false},
		"completions without a report":           {"raw:a", "raw:a raw:b", true},
		"text and JSON":                          {"report:r=normal-1", "report:s=-1 log:a", true},
		"text and JSON of two executions":        {"report:r=normal-1 raw:a", "report:s=-2 raw:a", false},
		"text and JSON, each beside logs":        {"report:r=normal-1 raw:a", "report:s=-1 raw:b", false},
		"JSON of two executions, all alike":      {"report:r=-1", "report:s=-1", false},
		"the same in another file":               {"report:r=json+-1/x", "report:s=json+-1/x", true},
		"the same without bins":                  {"report:r=json+-1/x", "report:s=-1/x", true},
		"short, in another file":                 {"report:r=-/x", "report:s=-/x", true},
		"others without bins, all alike":         {"report:r=json+-1/x", "report:s=-1/y", false},
		"text, and JSON with bins":               {"report:r=normal-1/z", "report:s=json+-1/x", true},
		"short, text and JSON":                   {"report:r=normal-/z", "report:s=json+-/x", false},
		"nothing":                                {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := sourceOf(c.a), sourceOf(c.b)
			if got := mapping.SameExecution(a, b); got != c.want {
				t.Errorf("%q and %q: %v", c.a, c.b, got)
			}
			if got := mapping.SameExecution(b, a); got != c.want {
				t.Errorf("the other way round: %v", got)
			}
		})
	}
}

func TestContains(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"report:r log:a", "report:r log:a", true},
		{"report:r log:a report:s log:b", "report:r log:a", true},
		{"report:r log:a", "report:r log:a report:s log:b", false},
		{"report:r log:a config:c", "report:r log:a", true},
		{"report:r log:a", "report:r log:a config:c", true}, // configuration is no part of the execution
		{"report:r log:a", "report:r log:a raw:x", true},    // nor is what source raw reads beside
		{"report:r=normal-1", "report:s=-1", true},
		{"report:r=normal-1", "report:s=-2", false},
		{"report:r=json+-/x report:t", "report:s=json+-/x", true},
		{"other:r=-/x", "report:s=-/x", true},
		{"report:r", "raw:x", false},
		{"report:r raw:x", "raw:x", true},
		{"report:r", "report:r log:empty", true},
		{"report:r", "", true},
		{"", "report:r", false},
	} {
		if got := sourceOf(c.a).Contains(sourceOf(c.b)); got != c.want {
			t.Errorf("%q contains %q: %v", c.a, c.b, got)
		}
	}
}

// An id depends on contents alone, not on their order, names or number of copies.
func TestRunIDIsOfContents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		role := rapid.SampledFrom([]string{mapping.RoleReport, mapping.RoleLog, mapping.RoleRaw, mapping.RoleConfig})
		s := &mapping.Source{}
		for i := range rapid.IntRange(1, 8).Draw(t, "files") {
			s.List = append(s.List, mapping.SourceFile{
				Path: string(rune('a' + i)), Role: role.Draw(t, "role"), Bytes: rapid.Int64Range(0, 3000).Draw(t, "bytes"),
				Hash: rapid.StringMatching("[0-9a-f]{2}").Draw(t, "hash"),
			})
		}
		moved := &mapping.Source{List: append(slices.Clone(s.List), s.List[0])}
		slices.Reverse(moved.List)
		for i := range moved.List {
			moved.List[i].Path = "elsewhere/" + moved.List[i].Path
		}
		if a, b := mapping.RunID(s), mapping.RunID(moved); a != b || len(a) != 20 {
			t.Errorf("ids %s and %s", a, b)
		}
		if len(s.Hashes()) > 0 && !mapping.SameExecution(s, moved) {
			t.Errorf("moved files are another execution")
		}
		if !s.Contains(moved) || !moved.Contains(s) {
			t.Errorf("moved files are more, or fewer")
		}
	})
}

func TestRunIDsOfExecutionsDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, files := range []string{"report:r", "report:s", "report:r report:s", "log:a", "log:b", "raw:a raw:b", "log:tiny1", "log:tiny2"} {
		id := mapping.RunID(sourceOf(files))
		if seen[id] != "" {
			t.Errorf("%s and %s have the same id", files, seen[id])
		}
		seen[id] = files
	}
	for files, same := range map[string]string{
		"report:r log:a": "report:r", "report:r config:c raw:x": "report:r", "log:a log:tiny log:empty": "log:a", "log:a raw:x": "log:a",
	} {
		if seen[mapping.RunID(sourceOf(files))] != same {
			t.Errorf("%s has another id than %s", files, same)
		}
	}
	if mapping.PartID(sourceOf("report:r log:a")) == mapping.PartID(sourceOf("report:r log:b")) {
		t.Error("two parts of one report have the same id")
	}
}

func TestBest(t *testing.T) {
	at := func(id, files string, complete bool, ingest string, hour int) *mapping.Run {
		return &mapping.Run{
			Run:      mapping.RunInfo{ID: id, Ingest: ingest, Complete: complete},
			Source:   *sourceOf(files),
			Ingested: start.Add(time.Duration(hour) * time.Hour),
		}
	}
	for name, c := range map[string]struct {
		runs []*mapping.Run
		want string
	}{
		"more files":     {[]*mapping.Run{at("a", "report:r", true, "1", 2), at("b", "report:r report:s", false, "1", 1)}, "b"},
		"complete":       {[]*mapping.Run{at("a", "report:r", false, "1", 2), at("b", "report:r", true, "1", 1)}, "b"},
		"newest":         {[]*mapping.Run{at("a", "report:r", true, "1", 1), at("b", "report:r", true, "1", 2)}, "b"},
		"JSON":           {[]*mapping.Run{at("a", "report:r=normal-1", true, "1", 3), at("b", "report:s=-1", false, "1", 2)}, "b"},
		"with bins":      {[]*mapping.Run{at("a", "report:r=-/x", true, "1", 3), at("b", "report:s=json+-/x", false, "1", 2)}, "b"},
		"not live":       {[]*mapping.Run{at("a", "report:r", true, "live-1", 3), at("b", "", false, "1", 2)}, "b"},
		"the smaller id": {[]*mapping.Run{at("b", "report:r", true, "1", 1), at("a", "report:r", true, "1", 1)}, "a"},
	} {
		if got := mapping.Best(c.runs); got.Run.ID != c.want {
			t.Errorf("%s: %s", name, got.Run.ID)
		}
		slices.Reverse(c.runs)
		if got := mapping.Best(c.runs); got.Run.ID != c.want {
			t.Errorf("%s, reversed: %s", name, got.Run.ID)
		}
	}
	if mapping.Best(nil) != nil {
		t.Error("the best of none")
	}
}

// TestCutLogs: a log that was copied only in part is the log that it begins. Files are ROLE:NAME:BEGIN:BYTES.
func TestCutLogs(t *testing.T) {
	source := func(text string) *mapping.Source {
		s := &mapping.Source{}
		for _, f := range strings.Fields(text) {
			p := strings.Split(f, ":")
			bytes, _ := strconv.ParseInt(p[3], 10, 64)
			s.List = append(s.List, mapping.SourceFile{Role: p[0], Path: p[1], Begin: p[2], Bytes: bytes, Hash: f})
		}
		return s
	}
	for name, c := range map[string]struct {
		cut, whole       string
		isOne, isLacking bool // they are one execution; the cut one has a part of a log
	}{
		"without a report":              {"log:x:b:3000", "log:x:b:9000", true, true},
		"renamed":                       {"log:x:b:3000", "log:y:b:9000", true, true},
		"another log of the name":       {"log:x:b:3000", "log:x:c:9000", false, false},
		"short, and no report":          {"log:x::3000", "log:x:b:9000", false, true},
		"with a report":                 {"report:r::5000 log:x:b:3000", "report:r::5000 log:x:b:9000", true, true},
		"short, with a report":          {"report:r::5000 log:x::300", "report:r::5000 log:x:b:9000", true, true},
		"short, another is not its":     {"report:r::5000 log:x::300 log:y:c:300", "report:r::5000 log:x:b:9000 log:y:d:900", false, true},
		"two prefixes of a report":      {"report:r::5000 log:x:b:3000", "report:r::5000 log:y:c:9000", false, false},
		"short, two prefixes":           {"report:r::5000 log:x::300", "report:r::5000 log:y::900", false, false},
		"the report came later":         {"log:x:b:3000", "report:r::5000 log:x:b:9000", true, true},
		"beside histogram logs":         {"raw:x:b:3000", "report:r::5000 log:y:c:9000 unread:x:b:3000", true, false},
		"equal logs, different reports": {"report:r::5000 log:x:b:3000", "report:s::5000 log:x:b:9000", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			cut, whole := source(c.cut), source(c.whole)
			if a, b := mapping.SameExecution(cut, whole), mapping.SameExecution(whole, cut); a != c.isOne || b != c.isOne {
				t.Errorf("one execution: %v and %v", a, b)
			}
			isLacking := slices.ContainsFunc(whole.MissingFrom(cut), func(f mapping.SourceFile) bool { return cut.HasPartOf(&f) })
			if isLacking != c.isLacking || slices.ContainsFunc(cut.MissingFrom(whole), func(f mapping.SourceFile) bool { return whole.HasPartOf(&f) }) {
				t.Errorf("it has a part of a log: %v", isLacking)
			}
			if strings.Contains(c.cut, ":b:") && c.isOne && (!whole.Contains(cut) || cut.Contains(whole)) {
				t.Error("the whole run does not contain the cut one, or the other way round")
			}
		})
	}
}
