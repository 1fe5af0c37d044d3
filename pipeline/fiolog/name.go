package fiolog

import (
	"strconv"
	"strings"
)

// Kind is what a log is about.
type Kind uint8

// The kinds of logs that fio writes.
const (
	ClatHist Kind = iota // histograms of completion latency
	Clat                 // completion latency
	Slat                 // submission latency
	Lat                  // both together
	BW                   // bandwidth
	IOPS                 // requests per second
)

// kindNames are the words in file names, indexed by Kind.
var kindNames = [...]string{"clat_hist", "clat", "slat", "lat", "bw", "iops"}

// String is fio's own word for it, such as "clat_hist".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Name is what the name of a log's file says.
type Name struct {
	Prefix string // the value of fio's write_*_log option, such as "output.0"
	Kind   Kind
	Job    int    // from 1 on; 0 for a file of all jobs (per_job_logs=0)
	Host   string // what CBT and fio --client append: "client01.lab.example.com", "10.0.0.1"; empty else
	Stored bool   // log_store_compressed, see [ErrStoredCompressed]
	Copy   string // what marks the name as that of a copy: ".bak", "~", "(1)"; empty else
}

// ParseName takes apart the name of a log, without its folder:
//
//	PREFIX_KIND[.JOB].log[.fz][.HOST]
//
// It reports false when it is none. Suffixes of compression other than fio's own are
// for the caller to take away. A ".txt" at the end, as mail programs append it, says
// nothing.
//
// Copies have names such as x_clat_hist.1.log.bak: Name.Copy says so, and the rest is as
// for the original. So no host can have a name that ends in ".bak", ".old" and the like,
// or in a number, unless it is an IPv4 address.
func ParseName(base string) (Name, bool) {
	const mostMarks = 4
	return parseCopy(base, mostMarks)
}

// parseCopy is ParseName for names with so many marks of copies at most.
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

// parseName is ParseName for names that are not those of copies.
func parseName(base string) (Name, bool) {
	// A prefix may look like anything, a host has no "_": so the last place counts.
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

// parseSuffix takes apart what comes behind the prefix and its "_".
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
