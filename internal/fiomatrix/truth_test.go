//go:build linux

package fiomatrix

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
)

var directions = [3]string{"read", "write", "trim"}

// completion is a request in a raw log.
type completion struct {
	at      int64 // in Unix milliseconds
	latency int64 // in nanoseconds
	size    int64 // in bytes
}

// truthJob is what is known about a job. Times are in Unix milliseconds.
type truthJob struct {
	process   *process
	section   int
	number    int // number of the job in fio, from 1; in a log of all jobs, the place of its part
	inSection int
	host      string
	startLo   int64 // the job's clock did not begin before
	startHi   int64 // and not after
	endLo     int64
	endHi     int64
	done      [3][]completion // by direction, in order of time
	rows      [3][]int64      // times of the rows in its histogram log
	unlogged  bool            // fio wrote no raw log of it, so completions are not known
	lost      bool            // its histogram log was removed
	written   int64           // when fio wrote its first log, after the job had ended
	stamped   int64           // when its histogram log was written
}

// start returns the best estimate of when the job's clock began.
func (j *truthJob) start() int64 { return (j.startLo + j.startHi) / 2 }

func (j *truthJob) total(dir int) int64 { return int64(len(j.done[dir])) }

// first and last return the job's first and last completion in a direction.
func (j *truthJob) first(dir int) int64 { return j.done[dir][0].at }
func (j *truthJob) last(dir int) int64  { return j.done[dir][len(j.done[dir])-1].at }

// logRow is the beginning of a row in any log of fio.
type logRow struct {
	at    int64
	value int64 // latency in nanoseconds, or number of requests
	dir   int
	size  int64   // in raw logs
	bins  []int64 // nil in raw logs
}

// readTruth reads what a process left for the truth.
func (s *scene) readTruth(p *process) error {
	hosts := []string{""}
	if len(p.servers) > 0 {
		hosts = nil
		for _, server := range p.servers {
			ip, _, _ := strings.Cut(server, ",")
			hosts = append(hosts, "."+ip)
		}
	}
	var jobs []*truthJob
	for i, x := range p.sections {
		for n := range x.jobs {
			for _, suffix := range hosts {
				j := &truthJob{process: p, section: i, number: len(jobs)/len(hosts) + 1, inSection: n + 1, host: p.host + strings.TrimPrefix(suffix, ".")}
				if err := s.readJob(j, suffix); err != nil {
					return err
				}
				jobs = append(jobs, j)
			}
		}
	}
	if _, allInOne := p.option(0, "per_job_logs"); allInOne {
		if err := s.readShared(p, jobs); err != nil {
			return err
		}
	}
	s.truth = append(s.truth, jobs...)
	p.readReports()
	return s.bracket(p)
}

// readShared gives each job its part of a log of all jobs. fio writes the parts in the order in which jobs end, and
// fio2es numbers them in this order.
func (s *scene) readShared(p *process, jobs []*truthJob) error {
	prefix, _ := p.option(0, "write_hist_log")
	given := map[*truthJob]bool{}
	for number := 1; ; number++ {
		rows, stamped, err := readLog(p.dir, prefix, []string{"_clat_hist"}, number, "", true)
		if err != nil || rows == nil {
			return err
		}
		var best *truthJob
		least := int64(math.MaxInt64)
		for _, j := range jobs {
			if off := j.differs(rows) + j.lacks(rows); !given[j] && off < least {
				best, least = j, off
			}
		}
		if best == nil {
			return fmt.Errorf("%s has more parts than jobs", prefix)
		}
		given[best], best.number, best.stamped = true, number, stamped
		best.rows = timesOf(rows)
	}
}

// differs counts the differences, row by row, between the requests in rows and those in the job's raw log. A row may
// end between two completions of one millisecond. Neither has absolute times yet.
func (j *truthJob) differs(rows []logRow) int64 {
	var sum [3]int64
	var off int64
	for _, r := range rows {
		sum[r.dir] += r.value
		least, most := j.until(r.dir, r.at-1), j.until(r.dir, r.at)
		off += max(0, int64(least)-sum[r.dir], sum[r.dir]-int64(most))
	}
	return off
}

// lacks counts the requests of rows in bins in which the job has fewer. Jobs with the same rate differ only in their
// latencies.
func (j *truthJob) lacks(rows []logRow) int64 {
	counts := map[[2]int]int64{} // by direction and bin
	for _, r := range rows {
		for bin, n := range r.bins {
			counts[[2]int{r.dir, bin}] += n
		}
	}
	if len(rows) == 0 {
		return 0
	}
	coarseness := bits.TrailingZeros(uint(hist.Fio3(0).Len() / len(rows[0].bins)))
	for dir, done := range j.done {
		for _, c := range done {
			counts[[2]int{dir, hist.Fio3(coarseness).Index(c.latency)}]--
		}
	}
	var off int64
	for _, n := range counts {
		off += max(0, n)
	}
	return off
}

func timesOf(rows []logRow) (out [3][]int64) {
	for _, r := range rows {
		out[r.dir] = append(out[r.dir], r.at)
	}
	return out
}

// option returns an option of a section, its own or the global one.
func (p *process) option(section int, k string) (string, bool) {
	return p.global.with(p.sections[section].options...).value(k)
}

// readJob reads a job's raw completions, and the times of its histogram rows.
func (s *scene) readJob(j *truthJob, suffix string) error {
	x, number := j.process.sections[j.section], j.number
	_, allInOne := j.process.option(j.section, "per_job_logs")
	if allInOne {
		number = j.inSection
	}
	raw, written, err := readLog(j.process.dir, x.raw, []string{"_clat", "_lat"}, number, suffix, allInOne)
	if err != nil {
		return err
	}
	j.written, j.unlogged = written, raw == nil
	for _, r := range raw {
		j.done[r.dir] = append(j.done[r.dir], completion{r.at, r.value, r.size})
	}
	if allInOne {
		return nil
	}
	prefix, _ := j.process.option(j.section, "write_hist_log")
	if prefix == "" {
		prefix = x.name
	}
	rows, stamped, err := readLog(j.process.dir, prefix, []string{"_clat_hist"}, number, suffix, false)
	j.stamped, j.rows = stamped, timesOf(rows)
	return err
}

// readLog reads a job's part of the first log that has rows. It also returns when the first log was written, or 0 if
// there is none.
func readLog(dir, prefix string, kinds []string, job int, suffix string, allInOne bool) (rows []logRow, written int64, err error) {
	if !strings.HasPrefix(prefix, "/") {
		prefix = dir + "/" + prefix
	}
	for _, kind := range kinds {
		name := fmt.Sprintf("%s%s.%d.log%s", prefix, kind, job, suffix)
		if allInOne {
			name = prefix + kind + ".log" + suffix
		}
		text, err := os.ReadFile(name)
		if isMissing(err) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		if info, err := os.Stat(name); err == nil && (written == 0 || info.ModTime().UnixMilli() < written) {
			written = info.ModTime().UnixMilli()
		}
		these, err := parseRows(text)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		if allInOne {
			these = partOf(these, job)
		}
		if len(rows) == 0 {
			rows = these
		}
	}
	return rows, written, nil
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// errNoRow is the error of a row without a direction. fio --server keeps back the last bits of a log that it compresses, and
// fio --client then takes the end of the last row from its memory (pipeline/fiolog/FORMAT.md).
var errNoRow = errors.New("not a row")

// parseRows parses time, direction and value of each row. The value is a latency in raw logs, and the number of
// requests in histogram logs.
func parseRows(text []byte) ([]logRow, error) {
	var rows []logRow
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var n []int64
		for f := range strings.SplitSeq(in.Text(), ",") {
			v, err := strconv.ParseUint(strings.TrimSpace(f), 10, 64)
			if err != nil {
				return nil, err
			}
			if v > 1<<60 { // written by fio 3.6 to 3.16 from their memory; later times are smaller
				v = 0
			}
			n = append(n, int64(v))
		}
		const rawColumns = 5 // time, latency, direction, block size, offset; newer versions have more
		switch {
		case len(n) < 4:
			return nil, fmt.Errorf("%q: not a row", in.Text())
		case len(n) <= rawColumns+1:
			rows = append(rows, logRow{at: n[0], value: n[1], dir: int(n[2]), size: n[3]})
		default: // time, direction, block size, bins
			r := logRow{at: n[0], dir: int(n[1])}
			r.bins = n[3:]
			for _, count := range r.bins {
				r.value += count
			}
			rows = append(rows, r)
		}
		if last := rows[len(rows)-1]; last.dir < 0 || last.dir > 2 {
			return nil, fmt.Errorf("row %d, %.200q: %w", len(rows), in.Text(), errNoRow)
		}
	}
	return rows, in.Err()
}

// partOf returns the part of a job in a log of all jobs. A new part begins where time goes back by more than in rows
// of one job.
func partOf(rows []logRow, job int) []logRow {
	at, from := 1, 0
	for i := 1; i <= len(rows); i++ {
		if i < len(rows) && rows[i].at >= rows[i-1].at-500 {
			continue
		}
		if at == job {
			return rows[from:i]
		}
		at, from = at+1, i
	}
	return nil
}

// bracket finds when each job of a process started and ended, and makes the times of its completions absolute.
func (s *scene) bracket(p *process) error {
	for i, x := range p.sections {
		mark := s.in("truth", fmt.Sprintf("%d.%d", p.number, i))
		pre, err := readMarks(mark + ".pre")
		if err != nil {
			return err
		}
		post, err := readMarks(mark + ".post")
		if len(post) < len(pre) { // killed: jobs without a mark ended before fio
			post, err = append(post, p.ended.UnixMilli()), nil
		}
		if err != nil || len(pre) == 0 {
			return fmt.Errorf("section %s has no start or end: %v", x.name, err)
		}
		for _, j := range s.truth {
			if j.process == p && j.section == i {
				j.place(slices.Min(pre), slices.Max(post), p.cut())
			}
		}
	}
	return nil
}

// cut reports whether a signal or an error ends the jobs early.
func (p *process) cut() bool {
	return p.shell != "" || slices.ContainsFunc(p.signals, func(s signal) bool { return s.name != "stall" })
}

// readMarks reads the times that date printed, in milliseconds.
func readMarks(name string) ([]int64, error) {
	text, err := os.ReadFile(name)
	var out []int64
	for _, f := range strings.Fields(string(text)) {
		if n, err := strconv.ParseInt(f, 10, 64); err == nil {
			out = append(out, n/1e6)
		}
	}
	return out, err
}

// place sets the range of the job's start: after date ran, and so early that its run time ended before the second
// mark. Raw logs may have absolute times, or those of another clock.
func (j *truthJob) place(pre, post int64, cut bool) {
	x := j.process.sections[j.section]
	pre += rampOf(j.process, j.section)
	if j.written > 0 {
		post = min(post, j.written) // fio writes logs before it runs exec_postrun
	}
	var span int64
	zero, by := j.zero(pre)
	if all := j.everything(); len(all) > 0 {
		span = all[len(all)-1] - zero
	}
	if x.timed && !cut {
		span = max(span, x.runtime.Milliseconds()-2)
	}
	j.startLo, j.startHi = pre, max(pre, post-span)
	j.endLo, j.endHi = pre+span, max(post, pre+span)
	if r := j.process.reports; j.unlogged && cut && len(r) > 0 { // killed: only the last report is left
		j.startHi, j.endLo = pre+100, r[len(r)-1]
	}
	if zero == 0 {
		by = j.start()
	}
	j.shift(by)
}

// zero returns the time from which the job's logs count, at its start. by is what makes their times absolute.
func (j *truthJob) zero(pre int64) (zero, by int64) {
	if _, ok := j.process.option(j.section, "log_alternate_epoch"); ok {
		return pre - j.process.boot, j.process.boot
	}
	if _, ok := j.process.option(j.section, "log_unix_epoch"); ok {
		return pre, 0
	}
	return 0, 0
}

// lag returns how late fio wrote what shows when a job ended: its log and the last report. More than some
// milliseconds are caused by the machine, and tolerated.
func (s *scene) lag(jobs []*truthJob) int64 {
	const usual = 50
	var most int64
	for _, j := range jobs {
		p := j.process
		most = max(most, j.stamped-j.endLo-usual)
		var end int64 // of all jobs of this fio
		for _, other := range s.truth {
			if other.process == p {
				end = max(end, other.endLo)
			}
		}
		if p.reported > 0 {
			most = max(most, p.reported-end-usual)
		}
		if len(p.reports) > 0 {
			most = max(most, p.reports[len(p.reports)-1]-end-usual)
		}
	}
	return most
}

// shift makes the times of completions and rows absolute.
func (j *truthJob) shift(by int64) {
	for d := range directions {
		for i := range j.done[d] {
			j.done[d][i].at += by
		}
		slices.SortStableFunc(j.done[d], func(a, b completion) int { return int(a.at - b.at) })
		for i := range j.rows[d] {
			j.rows[d][i] += by
		}
	}
}

// everything returns the times of all completions, ascending.
func (j *truthJob) everything() []int64 {
	var out []int64
	for d := range directions {
		for _, c := range j.done[d] {
			out = append(out, c.at)
		}
	}
	slices.Sort(out)
	return out
}

// rampOf returns how long a section runs before it counts, in milliseconds.
func rampOf(p *process, section int) int64 {
	v, _ := p.option(section, "ramp_time")
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v + "s")
	if err != nil {
		d, _ = time.ParseDuration(v)
	}
	return d.Milliseconds()
}
