package archtest

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// retired are words that need a second reading, with what to say in their place.
var retired = []struct{ words, say string }{
	{"tells, tell, told, telling", "report, say (but: tell reads and writes apart)"},
	{"goes on, go on, going on, went on", "run, continue"},
	{"anew", "again"},
	{"lest", "because otherwise"},
	{"nobody", "say it without a person: not known, not used"},
	{"whatever", "any, of any kind"},
	{"hence", "therefore, or begin a sentence"},
	{"shall", "must, or the present tense"},
	{"squeeze, squeezes, squeezed", "compress"},
	{"such that, in earnest, as it were", "write another sentence"},
}

// retiredWord is one of the retired words.
type retiredWord struct {
	word, say string
	longest   string // of its words; to look for it is much faster than the pattern, and few files have it
	pattern   *regexp.Regexp
}

var retiredPatterns = func() (list []retiredWord) {
	for _, row := range retired {
		for w := range strings.SplitSeq(row.words, ", ") {
			initial, rest := strings.ToUpper(w[:1]), strings.ReplaceAll(w[1:], " ", `\s+(?://\s+)?`)
			pattern := `(?:\b[` + w[:1] + initial + `]|[A-Za-z]` + initial + `)` + rest + `(?: (?:\S+ ){0,4}apart\b|\b|[A-Z])`
			longest := slices.MaxFunc(strings.Fields(w), func(a, b string) int { return len(a) - len(b) })
			list = append(list, retiredWord{w, row.say, longest, regexp.MustCompile(pattern)})
		}
	}
	return list
}()

// retiredWords finds the retired words in a text, also in camelCase names and across line ends.
func retiredWords(text string) (found []string) {
	lower := strings.ToLower(text)
	for _, r := range retiredPatterns {
		if !strings.Contains(lower, r.longest) {
			continue
		}
		for _, at := range r.pattern.FindAllStringIndex(text, -1) {
			if !strings.HasSuffix(text[:at[1]], " apart") { // "tell reads and writes apart" is plain
				found = append(found, fmt.Sprintf("%d: %q: %s", 1+strings.Count(text[:at[0]], "\n"), r.word, r.say))
			}
		}
	}
	return found
}

// TestPlainWords: code and documents contain no retired word. CHANGELOG.md is not checked.
func TestPlainWords(t *testing.T) {
	root := os.DirFS("../..")
	ours := regexp.MustCompile(`\.(go|md|html|css|js|txtar|yml)$|^Makefile$|^\.ci/`)
	conflict := regexp.MustCompile(`(?m)^(<<<<<<<|>>>>>>>) .*`)
	exempt := regexp.MustCompile(`^(testdata/corpus/|CHANGELOG\.md|internal/archtest/words_test\.go)`)
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !ours.MatchString(path) || exempt.MatchString(path) {
			return err
		}
		text, err := fs.ReadFile(root, path)
		for _, word := range retiredWords(string(text)) {
			t.Errorf("%s:%s", path, word)
		}
		if at := conflict.FindString(string(text)); at != "" {
			t.Errorf("%s: %q: a conflict of a merge was committed", path, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRetiredWords(t *testing.T) {
	for text, want := range map[string]string{
		"it tells\nit Tells": `1: "tells", 2: "tells"`, "and goes\n\t// on": `1: "goes on"`, "smallest TestOld": "",
		"tells a from b apart": "", "tellsAll isTells": `1: "tells", 1: "tells"`, "IDTells": `1: "tells"`,
		"tellsome": "", "lest": `1: "lest"`,
	} {
		var got []string
		for _, found := range retiredWords(text) {
			place, _, _ := strings.Cut(found, `": `)
			got = append(got, place+`"`)
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
