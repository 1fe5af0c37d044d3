//go:build linux

package fiomatrix

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options are options of fio, as "key=value" or "key".
type options []string

func key(option string) string {
	k, _, _ := strings.Cut(option, "=")
	return k
}

// with replaces options with the same key, and appends the others.
func (o options) with(more ...string) options {
	out := append(options(nil), o...)
next:
	for _, m := range more {
		for i := range out {
			if key(out[i]) == key(m) {
				out[i] = m
				continue next
			}
		}
		out = append(out, m)
	}
	return out
}

func (o options) without(keys ...string) options {
	var out options
next:
	for _, x := range o {
		for _, k := range keys {
			if key(x) == k {
				continue next
			}
		}
		out = append(out, x)
	}
	return out
}

func (o options) value(k string) (string, bool) {
	for _, x := range o {
		if key(x) == k {
			_, v, _ := strings.Cut(x, "=")
			return v, true
		}
	}
	return "", false
}

// section is a section of a job file: numjobs jobs of one kind.
type section struct {
	name    string
	rw      string
	rate    string // rate_iops
	jobs    int
	runtime time.Duration
	options options
	raw     string // prefix of the raw logs, relative to where fio starts
	timed   bool   // time_based: the section lasts exactly for runtime
}

// signal is a signal to the jobs of a process, or to fio itself.
type signal struct {
	after  time.Duration // time since the first job began
	name   string        // stall, interrupt or kill
	length time.Duration // length of a stall
	jobs   int           // how many jobs a stall stops, the first ones; 0: all
}

// process is one fio.
type process struct {
	number   int
	phase    int    // phases follow one another; processes of one phase run at the same time
	host     string // the name of the host in fio2es; empty for a plain run
	dir      string // folder in which it starts
	global   options
	sections []*section
	args     []string // only on the command line, such as --status-interval=1
	report   string   // file for the output, relative to dir
	redirect string   // ">" or ">>": the shell writes the report; empty: fio does
	jobFile  string   // path of the job file; empty: everything is on the command line
	delay    time.Duration
	signals  []signal
	shell    string   // runs before fio in the same shell
	servers  []string // addresses for fio --client
	folders  []string // folders to make before, relative to dir

	started, ended time.Time
	counted        [3]int64 // requests in fio's last report, including failed ones
	reports        []int64  // times of its reports, in Unix milliseconds
	reported       int64    // when its report was written
	boot           int64    // result of bootTime
}

// scene is a case of the matrix: what fio runs, what fio2es reads, and what it must say.
type scene struct {
	way  string
	seed uint64
	rnd  *rand.Rand
	root string // temporary folder: run/ is for fio2es, truth/ and data/ are not

	histMS    int
	coarse    int
	processes []*process
	arrange   func(*scene) error // moves files after all processes have ended
	paths     []string           // what fio2es reads, relative to root
	flags     []string           // flags of fio2es ingest and percentiles
	wants     []want             // accepted results; one must fit
	note      string             // what was drawn, for the table
	extra     func(*said, *verdict)
	after     func(phase int) error // called after each phase

	truth  []*truthJob
	random random // of a random execution
}

func (s *scene) in(parts ...string) string {
	return filepath.Join(append([]string{s.root}, parts...)...)
}

// kind says how much of a case fio2es can know.
type kind int

const (
	complete kind = iota // all requests, at all levels, over time
	totals               // all requests of the run, without windows
	short                // some requests are lost, and fio2es says so
	refused              // no numbers
)

func (k kind) String() string {
	return [...]string{"complete", "totals only", "partial, reported", "refused, reported"}[k]
}

// halve also accepts that logs are refused for the reason that those of fio 3.6 to 3.16 have no counts of slow
// requests.
func (s *scene) halve() {
	for _, w := range s.wants {
		w.says, w.exit, w.counted = append(slices.Clone(w.says), `fio 3\.6 to 3\.16`), []int{3}, false
		for _, w.kind = range []kind{totals, short} {
			s.wants = append(s.wants, w)
		}
	}
}

// source says from what windows are made, which decides how exact they can be.
type source int

const (
	fromRows source = iota
	fromRaw
	fromReports
)

// want is an accepted result of a case.
type want struct {
	kind kind
	// accepted exit codes of ingest; nil: 0 for complete, 3 for short, not 0 for refused, 0 or 3 for totals
	exit  []int
	says  []string // regular expressions that stderr must match
	never []string // regular expressions that stderr must not match, such as advice that does not help
	// mayWarn matches warnings that are accepted although nothing is lost; empty: none.
	mayWarn string
	// counted means that the report counts all requests, so the number of lost ones is known.
	counted bool
	source  source
	// tolerance of starts and ends; 0 means 150 ms.
	tolerance time.Duration
	// unplaced means that no evidence says when the run was, so times are not checked.
	unplaced bool
	// noShape means that only the sums of windows are checked.
	noShape bool
	// oneLog means that all jobs share a log that does not say to which job a row belongs. Windows of a job may have
	// those of all.
	oneLog bool
	// mixed means that requests are counted only under all, without a direction.
	mixed bool
	// groups returns the jobs of each run that fio2es must make; nil: one run of all jobs.
	groups func(*scene) [][]*truthJob
	// more allows further runs besides those of the truth. What they lack must be reported.
	more bool
}
