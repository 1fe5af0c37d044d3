//go:build linux

package fiomatrix

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options are fio's, as "key=value" or "key".
type options []string

func key(option string) string {
	k, _, _ := strings.Cut(option, "=")
	return k
}

// with replaces options of the same key and appends the others.
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

// section is one job section of fio: numjobs jobs of one kind.
type section struct {
	name    string
	rw      string
	rate    string // rate_iops
	jobs    int
	runtime time.Duration
	options options
	raw     string // prefix of the raw logs; relative to where fio starts
	timed   bool   // the section lasts as long as runtime says
}

// signal is sent to the jobs of a process, or to fio itself.
type signal struct {
	after  time.Duration // since the first job began
	name   string        // stall, interrupt, kill
	length time.Duration // of a stall
}

// process is one fio that is started.
type process struct {
	number   int
	phase    int    // phases follow each other; processes of one phase run side by side
	host     string // as fio2es is to name it; empty for a plain run
	dir      string // where it starts
	global   options
	sections []*section
	args     []string // of the command line alone, such as --status-interval=1
	report   string   // file for the output; relative to dir
	redirect string   // ">", ">>": the shell writes the report; empty: fio does
	jobFile  string   // where the job file goes; empty: all on the command line
	delay    time.Duration
	signals  []signal
	shell    string   // runs before fio in the same shell
	servers  []string // addresses for fio --client
	folders  []string // to make before, relative to dir

	started, ended time.Time
	counted        [3]int64 // requests in fio's last report, failed ones too
	reports        []int64  // times of its reports, Unix milliseconds
	boot           int64    // bootTime
}

// scene is one case of the matrix: what fio runs, what fio2es reads, what it must say.
type scene struct {
	way  string
	seed uint64
	rnd  *rand.Rand
	root string // temporary: run/ is for fio2es, truth/ and data/ are not

	histMS    int
	coarse    int
	processes []*process
	arrange   func(*scene) error // moves files when all processes ended
	paths     []string           // what fio2es reads, relative to root
	flags     []string           // of fio2es ingest and percentiles
	wants     []want             // any of them
	note      string             // what was drawn, for the table
	extra     func(*said, *verdict)
	after     func(phase int) error // runs when a phase is over

	truth []*truthJob
}

func (s *scene) in(parts ...string) string {
	return filepath.Join(append([]string{s.root}, parts...)...)
}

// kind is how much of a case fio2es can know.
type kind int

const (
	complete kind = iota // all requests, at all levels, over time
	totals               // all requests of the run, nothing over time
	short                // some requests are lost, and fio2es says so
	refused              // no numbers
)

func (k kind) String() string {
	return [...]string{"complete", "totals only", "partial, reported", "refused, reported"}[k]
}

// halve also accepts that logs are refused, with the reason: those of fio 3.6 to 3.16 have no counts of slow requests.
func (s *scene) halve() {
	for _, w := range s.wants {
		w.says, w.exit, w.counted = append(slices.Clone(w.says), `fio 3\.6 to 3\.16`), []int{3}, false
		for _, w.kind = range []kind{totals, short} {
			s.wants = append(s.wants, w)
		}
	}
}

// source is what the windows are made of, which decides how exact they can be.
type source int

const (
	fromRows source = iota
	fromRaw
	fromReports
)

// want is what fio2es must say of a case.
type want struct {
	kind  kind
	exit  []int    // accepted exit codes of ingest; nil: 0 for complete, 3 for short, not 0 for refused, 0 or 3 for totals
	says  []string // expressions that stderr must match
	never []string // expressions that stderr must not match, such as advice that does not help
	// mayWarn is what warnings may be about if nothing is lost; empty: no warning.
	mayWarn string
	// counted means that the report counts all requests: those that are lost are known.
	counted bool
	source  source
	// tolerance of starts and ends; 0 is 150 ms.
	tolerance time.Duration
	// unplaced means that no evidence says when the run was: times are not checked.
	unplaced bool
	// noShape means that only sums are checked of the windows, not their contents.
	noShape bool
	// oneLog means that all jobs share a log in which nothing says whose a row is: windows of a job may have those of all.
	oneLog bool
	// mixed means that requests are counted under all alone, without a direction.
	mixed bool
	// groups are the jobs of each run that fio2es is to make; nil: one run of all.
	groups func(*scene) [][]*truthJob
	// more allows runs besides those of the truth; what they lack must be reported.
	more bool
}
