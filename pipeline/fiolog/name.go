package fiolog

import (
	"strconv"
	"strings"
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
func ParseName(base string) (Name, bool) {
	const mostMarks = 4
	return parseCopy(base, mostMarks)
}

// parseCopy is ParseName with a limit for the number of marks of copies.
func parseCopy(base string, marks int) (Name, bool) {
	n, ok := parseName(base)
	if ok && (n.Host == "" || isAddress(n.Host)) && !markAtStart.MatchString(n.Prefix) {
		return n, true
	}
	original, mark := CutCopyMark(base)
	if mark == "" || marks == 0 {
		return n, ok
	}
	of, isCopy := parseCopy(original, marks-1)
	if !isCopy {
		return n, ok
	}
	of.Copy = mark
	return of, true
}

// parseName is ParseName for names without marks of copies.
func parseName(base string) (Name, bool) {
	// A prefix may be any text and a host has no "_", so the last match counts.
	for end := len(base); ; {
		at := strings.LastIndexByte(base[:end], '_')
		if at < 0 {
			return Name{}, false
		}
		if n, ok := parseSuffix(base[at+1:]); ok {
			n.Prefix = base[:at]
			return n, true
		}
		end = at
	}
}

// parseSuffix parses the part after the prefix and its "_".
func parseSuffix(s string) (Name, bool) {
	word, rest, ok := strings.Cut(s, ".")
	if !ok {
		return Name{}, false
	}
	n := Name{}
	for k, name := range kindNames {
		if ok = word == name; ok {
			n.Kind = Kind(k)
			break
		}
	}
	if !ok {
		return Name{}, false
	}
	if number, after, isCut := strings.Cut(rest, "."); isCut && number != "log" {
		job, err := strconv.ParseInt(number, 10, 32)
		if err != nil || job < 1 || number[0] < '1' || number[0] > '9' {
			return Name{}, false
		}
		n.Job, rest = int(job), after
	}
	rest, ok = strings.CutPrefix(rest, "log")
	if !ok {
		return Name{}, false
	}
	if after, isStored := strings.CutPrefix(rest, ".fz"); isStored && (after == "" || after[0] == '.') {
		n.Stored, rest = true, after
	}
	if rest == "" {
		return n, true
	}
	if rest = strings.TrimSuffix(rest, ".txt"); rest == "" {
		return n, true
	}
	n.Host = rest[1:]
	return n, rest[0] == '.' && n.Host != ""
}
