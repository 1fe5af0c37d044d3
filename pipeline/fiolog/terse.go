package fiolog

import (
	"fmt"
	"strings"
)

// Fields of a terse line. Of each direction it has the transfer, three latencies, the percentiles between the second and the
// third, and the bandwidth over time. Version 5 has more of the last.
const (
	terseBefore    = 5 // version, version of fio, name, group, error
	terseRanks     = 20
	terseDirection = 4 + 3*4 + terseRanks + 5
	terseMore      = 6          // in version 5
	terseAfter     = 5 + 7 + 22 // CPU, depths, latencies: then disks
)

// takeTerse takes a line of terse output, which has all of a job. Before the disks comes a known number of fields, all of them
// numbers but the name.
func (t *texts) takeTerse() {
	t.endJob()
	f := strings.Split(t.text, ";")
	if len(f) > 3 && f[3] == "-1" { // fio prints a job that does not exist behind those of a group
		return
	}
	size, directions := terseDirection, 2 // read and write
	if f[0] != "3" {
		directions = 3
	}
	if f[0] == "5" {
		size += terseMore
	}
	// The first field after the directions is a percentage. unified_rw_reporting has one direction, or their sum behind them.
	found := 0
	for found <= directions && terseBefore+found*size < len(f) && !strings.HasSuffix(f[terseBefore+found*size], "%") {
		found++
	}
	cpu := terseBefore + found*size
	if found == 0 || len(f) < cpu+terseAfter || !strings.HasSuffix(f[cpu], "%") {
		t.fail(0, fmt.Sprintf("%d fields", len(f)), fmt.Sprintf("the %d of terse version %s, and those of disks", terseBefore+directions*size+terseAfter, f[0]))
		return
	}
	if f[2] == allClients {
		t.joinClients(Terse, func(jobs []Job) bool {
			kib := uint64(0) // of all jobs, each rounded down
			for _, j := range jobs {
				for _, s := range j.All() {
					kib += s.IOBytes >> 10
				}
			}
			sum := uint64(0)
			for i := range min(found, directions) {
				sum += uint64(t.whole(f[terseBefore+i*size]))
			}
			return kib <= sum && sum <= kib+uint64(len(jobs)*directions)
		})
		return
	}
	j := &Job{Name: f[2], GroupID: int(t.whole(f[3])), Error: int(t.whole(f[4]))}
	j.UsrCPU, j.SysCPU = t.number(strings.TrimSuffix(f[cpu], "%"), 1).value, t.number(strings.TrimSuffix(f[cpu+1], "%"), 1).value
	j.Switches = t.whole(f[cpu+2])
	for i := range min(found, directions) {
		s := &j.Directions[i]
		if found == 1 {
			j.Mixed = new(DirectionStats)
			s = j.Mixed
		}
		t.takeDirection(s, f[terseBefore+i*size:])
	}
	// All lines of a report end with the same numbers of disks, which change from report to report.
	rest := f[cpu+terseAfter:]
	last := len(rest)
	for last > 0 && !strings.HasSuffix(rest[last-1], "%") { // numbers of errors, and the description
		last--
	}
	disks := strings.Join(rest[:last], ";")
	if t.report != nil {
		before := &t.report.Jobs[len(t.report.Jobs)-1]
		isSame := before.Name == j.Name && before.GroupID == j.GroupID
		switch {
		case t.report.Format != Terse, disks != t.disks, j.GroupID < before.GroupID, !isSame && t.seen[jobOf{j.Name, j.GroupID}],
			isSame && t.hasGrown(before, j):
			t.endReport()
		case isSame && disks == "":
			t.report.Doubt = fmt.Sprintf("several lines are of job %s, and none has the use of disks: they are read as jobs that ran "+
				"at the same time (numjobs)", j.Name)
		}
	}
	if t.disks = disks; t.report == nil {
		t.begin(Terse, f[1])
		all := t.done[Terse]
		if t.isPeriodic = len(all) > 0 && t.hasGrown(&all[len(all)-1].Jobs[0], j); !t.isPeriodic {
			t.executions++
		}
	}
	j.Process, t.seen[jobOf{j.Name, j.GroupID}] = t.executions, true
	t.addJob(j)
}

func (t *texts) takeDirection(s *DirectionStats, f []string) {
	s.IOBytes, s.IOPS, s.Runtime = uint64(min(t.whole(f[0]), 1<<50))<<10, float64(t.whole(f[2])), t.whole(f[3])
	if s.Runtime == 0 {
		return
	}
	s.Uncounted = true
	const clat = 8
	for i, l := range []*Latency{&s.Slat, &s.Clat, &s.Lat} {
		at := []int{4, clat, clat + 4 + terseRanks}[i]
		l.Min, l.Max, l.Step, l.PercentileStep = t.whole(f[at])*1000, t.whole(f[at+1])*1000, 1000, 1000
		l.Mean, l.StdDev = t.number(f[at+2], 1).value*1000, t.number(f[at+3], 1).value*1000
	}
	for _, field := range f[clat+4 : clat+4+terseRanks] {
		rank, value, _ := strings.Cut(field, "%=")
		if r := t.number(rank, 1).value; r > 0 { // fio fills the list up with 0%=0
			s.Clat.Percentiles = append(s.Clat.Percentiles, Percentile{r, t.whole(value) * 1000})
		}
	}
}

// hasGrown reports whether job b is job a later in the same execution, because all that fio adds up has grown. Two jobs that
// ran side by side may look so by chance, but they did not run for times that differ by much.
func (t *texts) hasGrown(a, b *Job) bool {
	const much = 500 // milliseconds
	isLater := t.isPeriodic
	for d := range a.Directions {
		x, y := &a.Directions[d], &b.Directions[d]
		// The run time of a job that has ended grows in periodic reports of fio 3.1 to 3.16. In the last one it is right.
		isShorter := y.Runtime < x.Runtime && !t.isPeriodic
		if isShorter || y.IOBytes < x.IOBytes || y.Clat.Max < x.Clat.Max || x.Runtime > 0 && y.Clat.Min > x.Clat.Min {
			return false
		}
		isLater = isLater || y.Runtime >= x.Runtime+much && y.IOBytes > x.IOBytes
	}
	return isLater && a.Name == b.Name && a.GroupID == b.GroupID
}
