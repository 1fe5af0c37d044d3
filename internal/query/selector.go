package query

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/where"
)

// Latest selects the newest run of a history.
const Latest = "latest"

// SelectorsHelp lists the selectors for messages.
const SelectorsHelp = "an id or its beginning, latest, latest~1, last:5, same-as:RUN, or a condition such as 'bs=4k'"

// SameAs is the prefix of the selector same-as:RUN.
const SameAs = "same-as:"

// Prefixes of other selectors.
const (
	before = Latest + "~"
	last   = "last:"
)

// mostBack limits the numbers in selectors.
const mostBack = 1_000_000

// Selector selects runs of a history:
//
//	4f1d2c        the run with this id, or whose id begins so
//	latest        the newest run
//	latest~2      the run two before the newest
//	last:5        the five newest runs
//	same-as:RUN   the runs with the same settings as RUN, which is one of the first three
//	bs=4k         the runs that meet a condition; see package where
type Selector struct {
	text      string
	count     int              // how many of the newest runs; 0 for other selectors
	newest    bool             // all count runs, and not only the last of them
	id        string           // an id or the beginning of one
	as        *Selector        // the RUN of same-as:RUN
	condition *where.Condition // the condition that runs must meet
}

// String returns the selector as the user wrote it.
func (s *Selector) String() string { return s.text }

// IsOne reports whether the selector selects a single run.
func (s *Selector) IsOne() bool { return s.id != "" || s.count > 0 && !s.newest }

// IsID reports whether the selector is an id, or the beginning of one.
func (s *Selector) IsID() bool { return s.id != "" }

// ParseSelector parses a selector. Times in conditions such as 7d count back from now. An error is a [UsageError].
func ParseSelector(text string, now time.Time) (s *Selector, err error) {
	s = &Selector{text: text}
	switch {
	case text == Latest:
		s.count = 1
	case strings.HasPrefix(text, before):
		n, ok := number(text[len(before):], 0)
		if !ok {
			return nil, usagef("%s: want latest~N with a number from 0, such as latest~1 for the run before the newest", text)
		}
		s.count = n + 1
	case strings.HasPrefix(text, last):
		n, ok := number(text[len(last):], 1)
		if !ok {
			return nil, usagef("%s: want last:N with a number from 1, such as last:5 for the five newest runs", text)
		}
		s.count, s.newest = n, true
	case strings.HasPrefix(text, SameAs):
		s.as, err = ParseSelector(text[len(SameAs):], now)
		if err != nil || !s.as.IsOne() {
			return nil, usagef("%s: want same-as:RUN with one run: an id or its beginning, latest, or latest~1", text)
		}
	case strings.TrimSpace(text) == "":
		return nil, usagef("an empty text names no run: want %s", SelectorsHelp)
	case isConditionText(text):
		if s.condition, err = where.Parse(text, now); err != nil {
			return nil, usagef("%s: %w", text, err)
		}
	default:
		s.id = text
	}
	return s, nil
}

// number parses decimal digits. ok is false if n is not between least and [mostBack].
func number(text string, least int) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= least && n <= mostBack && text[0] != '+'
}

// IsWord reports whether an argument has the form latest, latest~1, last:5 or same-as:RUN.
func IsWord(arg string) bool {
	return arg == Latest || strings.HasPrefix(arg, before) || strings.HasPrefix(arg, last) || strings.HasPrefix(arg, SameAs)
}

// IsSelector reports whether an argument is a selector other than an id: a word ([IsWord]) or a condition.
func IsSelector(arg string) bool { return IsWord(arg) || isConditionText(arg) }

// isConditionText reports whether a text is a condition, or looks like one with a mistake.
func isConditionText(text string) bool {
	if !strings.ContainsAny(text, "=<>~") && !strings.Contains(text, " ") {
		return false
	}
	_, err := where.Parse(text, time.Time{})
	return err == nil || strings.ContainsAny(text, "=<>") && !strings.ContainsAny(text, `/\*?[`)
}

// IsPath reports whether an argument is a path, and not a run in the history: it exists, or it looks like a path.
// Words ([IsWord]) are never paths: a file with the name latest is ./latest.
func IsPath(arg string) bool {
	if IsWord(arg) {
		return false
	}
	if _, err := os.Lstat(arg); err == nil || arg == "-" {
		return true
	}
	return strings.ContainsAny(arg, `/\*?[.`) && !isConditionText(arg)
}
