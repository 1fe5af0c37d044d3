package fiolog

import (
	"net/netip"
	"regexp"
	"strings"
)

var (
	// markAtEnd matches what editors, people and log rotation append to the name of a copy.
	markAtEnd = regexp.MustCompile(`(?i)(?:~|\.(?:(?:bak|bkp|swp)\d*|backup|old|orig|saved?|copy|prev|tmp|part))$`)
	// markBeforeEnd matches what file managers and browsers insert before the last suffix, or append.
	markBeforeEnd = regexp.MustCompile(`(?i)( ?\((?:\d+|(?:another |\d+(?:st|nd|rd|th) )?copy(?: \d+)?)\)| - copy(?: \(\d+\))?| copy(?: \d+)?)(\.(?:log|json|txt|out)[^ ]*|)$`)
	markAtStart   = regexp.MustCompile(`(?i)^copy (?:\(\d+\) )?of `)
	markOfDate    = regexp.MustCompile(`(\.(?:log|json|txt|out)(?:\.fz)?)(-(?:19|20)\d{6}(?:-?\d+)?)$`)
	markOfNumber  = regexp.MustCompile(`\.\d+$`)
)

// CutCopyMark splits the mark of a copy from the name of a file: "x.log.bak" is a copy of "x.log" with the mark ".bak".
// The mark is "" if there is none. Log rotation appends a number, which is a mark, too. But a number may also be a part
// of an IP address, or CBT's number of a volume. The rest of the name decides.
func CutCopyMark(base string) (original, mark string) {
	const longest = 512 // no system has longer names
	if len(base) > longest || !mayBeMarked(base) {
		return base, ""
	}
	if i := markAtEnd.FindStringIndex(base); i != nil && i[0] > 0 {
		return base[:i[0]], base[i[0]:]
	}
	if i := markAtStart.FindStringIndex(base); i != nil && i[1] < len(base) {
		return base[i[1]:], strings.TrimSpace(base[:i[1]])
	}
	if m := markBeforeEnd.FindStringSubmatchIndex(base); m != nil && m[0] > 0 {
		return base[:m[0]] + base[m[4]:], strings.TrimSpace(base[m[2]:m[3]])
	}
	if m := markOfDate.FindStringSubmatchIndex(base); m != nil {
		return base[:m[4]], base[m[4]:]
	}
	if i := markOfNumber.FindStringIndex(base); i != nil && i[0] > 0 {
		return base[:i[0]], base[i[0]:]
	}
	return base, ""
}

// markWords are the marks that follow a dot at the end.
var markWords = map[string]bool{
	"bak": true, "bkp": true, "backup": true, "old": true, "orig": true, "save": true, "saved": true, "copy": true, "prev": true,
	"tmp": true, "swp": true, "part": true,
}

// mayBeMarked excludes most names without the regular expressions. A marked name has a blank or a bracket, or ends in a
// number, "~" or one of markWords.
func mayBeMarked(base string) bool {
	word := strings.TrimRight(base, "0123456789")
	if word == "" || len(word) < len(base) && (word[len(word)-1] == '.' || word[len(word)-1] == '-') {
		return word != ""
	}
	return word[len(word)-1] == '~' || strings.ContainsAny(base, " (") ||
		markWords[strings.ToLower(word[strings.LastIndexByte(word, '.')+1:])]
}

// isAddress reports whether a host is an IPv4 address. It ends in a number that is not a mark.
func isAddress(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Is4()
}
