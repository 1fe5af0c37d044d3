package fiolog

import (
	"cmp"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/late"
)

// Kind is what a log measures.
type Kind uint8

// The kinds of logs that fio writes.
const (
	ClatHist Kind = iota // histograms of completion latency
	Clat                 // completion latency
	Slat                 // submission latency
	Lat                  // slat plus clat
	BW                   // bandwidth
	IOPS                 // requests per second
)

// kindNames are the words in file names, indexed by Kind.
var kindNames = [...]string{"clat_hist", "clat", "slat", "lat", "bw", "iops"}

// String returns fio's name, such as "clat_hist".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// IsHistogram reports whether the rows of such logs are histograms.
func (k Kind) IsHistogram() bool { return k == ClatHist }

// Name is the name of a log file in its parts.
type Name struct {
	Prefix string // the value of fio's write_*_log option, such as "output.0"
	Kind   Kind
	Job    int    // from 1 on; 0 for a file of all jobs (per_job_logs=0)
	Host   string // that CBT or fio --client appended: "client01.lab.example.com", "10.0.0.1"; else empty
	Stored bool   // log_store_compressed is set, see [ErrStoredCompressed]
	Copy   string // the mark of a copy: ".bak", "~", "(1)"; else empty
}

// ParseName parses the name of a log, without its folder:
//
//	PREFIX_KIND[.JOB].log[.fz][.HOST]
//
// It returns false for any other name. The caller removes suffixes of compression other
// than fio's own. A ".txt" at the end, as mail programs append it, is ignored.
//
// For a copy such as x_clat_hist.1.log.bak it sets Name.Copy and the rest as for the
// original. So no host can have a name that ends in ".bak", ".old" and the like, or in a
// number, unless it is an IPv4 address.
func ParseName(base string) (name Name, isName bool) {
	const mostMarks = 4
	first := "" // the first mark
	for i := 0; ; i++ {
		n, ok := parseName(base)
		if ok {
			name, isName = n, true
			name.Copy = first
		}
		address, err := netip.ParseAddr(n.Host)
		isKnown := n.Host == "" || err == nil && address.Is4() // an address ends in a number that is not a mark
		original, mark := CutCopyMark(base)
		if ok && isKnown && !markAtStart().MatchString(n.Prefix) || mark == "" || i == mostMarks {
			return name, isName
		}
		base, first = original, cmp.Or(first, mark)
	}
}

// parseName is ParseName for names without marks of copies.
func parseName(base string) (Name, bool) {
	// A prefix may be any text and a host has no "_", so the last match counts.
place:
	for end := strings.LastIndexByte(base, '_'); end >= 0; end = strings.LastIndexByte(base[:end], '_') {
		word, rest, _ := strings.Cut(base[end+1:], ".")
		n := Name{Prefix: base[:end]}
		for word != kindNames[n.Kind] {
			if n.Kind++; int(n.Kind) == len(kindNames) {
				continue place
			}
		}
		if number, after, isCut := strings.Cut(rest, "."); isCut && number != "log" {
			job, err := strconv.ParseInt(number, 10, 32)
			if err != nil || number[0] < '1' || number[0] > '9' {
				continue
			}
			n.Job, rest = int(job), after
		}
		rest, ok := strings.CutPrefix(rest, "log")
		if after, isStored := strings.CutPrefix(rest, ".fz"); isStored && (after == "" || after[0] == '.') {
			n.Stored, rest = true, after
		}
		if rest != "" {
			rest = strings.TrimSuffix(rest, ".txt")
		}
		n.Host = strings.TrimPrefix(rest, ".")
		if ok && (rest == "" || rest[0] == '.' && n.Host != "") {
			return n, true
		}
	}
	return Name{}, false
}

// copyWords are what editors, people and log rotation append after a dot to the name of a copy, and whether a number may
// follow.
var copyWords = map[string]bool{
	"bak": true, "bkp": true, "swp": true, "backup": false, "old": false, "orig": false, "save": false, "saved": false,
	"copy": false, "prev": false, "tmp": false, "part": false, "partial": false, "filepart": false, "crdownload": false,
}

// Other marks of copies. Each has one group, which is the mark.
var (
	markAtStart = late.Regexp(`(?i)^(copy (?:\(\d+\) )?of )`)
	marks       = []func() *regexp.Regexp{
		markAtStart,
		// what file managers and browsers insert before the last suffix, or append
		late.Regexp(`(?i).( ?\((?:\d+|(?:another |\d+(?:st|nd|rd|th) )?copy(?: \d+)?)\)| - copy(?: \(\d+\))?| copy(?: \d+)?)` +
			`(?:\.(?:log|json|txt|out)[^ ]*|)$`),
		// dates and numbers of log rotation
		late.Regexp(`\.(?:log|json|txt|out)(?:\.fz)?(-(?:19|20)\d{6}(?:-?\d+)?)$`),
		late.Regexp(`.(\.\d+)$`),
	}
)

// CutCopyMark splits the mark of a copy from the name of a file: "x.log.bak" is a copy of "x.log" with the mark ".bak".
// The mark is "" if there is none. Log rotation appends a number, which is a mark, too. But a number may also be a part
// of an IP address, or CBT's number of a volume. The rest of the name decides.
func CutCopyMark(base string) (original, mark string) {
	const longest = 512 // no system has longer names
	word := strings.TrimRight(base, "0123456789")
	dot := strings.LastIndexByte(word, '.')
	mayHaveNumber, isWord := copyWords[strings.ToLower(word[dot+1:])]
	switch {
	case len(base) > longest || word == "":
		return base, ""
	case strings.HasSuffix(base, "~") && base != "~":
		return base[:len(base)-1], "~"
	case isWord && dot > 0 && (word == base || mayHaveNumber):
		return base[:dot], base[dot:]
	case strings.ContainsAny(base, " ("):
	case word == base || !strings.HasSuffix(word, ".") && !strings.HasSuffix(word, "-"):
		return base, "" // most names, without the regular expressions
	}
	for _, r := range marks {
		if m := r().FindStringSubmatchIndex(base); m != nil && m[3]-m[2] < len(base) {
			return base[:m[2]] + base[m[3]:], strings.TrimSpace(base[m[2]:m[3]])
		}
	}
	return base, ""
}
