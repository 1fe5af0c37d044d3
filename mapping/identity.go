package mapping

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The roles of files, as [SourceFile].Role.
const (
	RoleReport = "report" // fio's JSON output
	RoleLog    = "log"    // a histogram log
	RoleRaw    = "raw"    // a log of single completions or of averages
	RoleConfig = "config" // of CBT; runs share it, so it identifies none
	RoleOther  = "other"  // output of fio that covers no job of the run
)

// trivialBytes is the size below which two logs can be equal by chance.
const trivialBytes = 1 << 10

// content identifies a file by what it contains, regardless of its path and name.
type content struct {
	hash  string
	bytes int64
}

// RunID is the id of a run that no store has yet: 20 hexadecimal digits made from the contents
// of its reports or, without reports, of its logs. Names do not change it. Runs that are parts
// of one report have the same id: see [PartID].
func RunID(s *Source) string {
	if reports := s.contents(RoleReport); len(reports) > 0 {
		return idOf(reports)
	}
	if logs := s.contents(RoleLog); len(logs) > 0 {
		return idOf(logs)
	}
	return idOf(s.contents(RoleRaw))
}

// PartID is the id of a run that shares its reports with other runs, such as one log prefix of
// several. It is made from the run's logs and reports.
func PartID(s *Source) string { return idOf(s.contents(RoleReport, RoleLog, RoleRaw)) }

// idOf skips trivial contents unless there are no others.
func idOf(all []content) string {
	if large := slices.DeleteFunc(slices.Clone(all), content.isTrivial); len(large) > 0 {
		all = large
	}
	sum := sha256.New()
	for _, c := range all {
		sum.Write([]byte(c.hash + " " + strconv.FormatInt(c.bytes, 10) + "\n"))
	}
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

func (c content) isTrivial() bool { return c.bytes < trivialBytes }

func (c content) compare(d content) int {
	return cmp.Or(cmp.Compare(c.hash, d.hash), cmp.Compare(c.bytes, d.bytes))
}

// contents are the contents of the files with these roles, sorted, each once. Empty files and
// files that could not be read have none.
func (s *Source) contents(roles ...string) []content {
	var all []content
	for i := range s.List {
		if f := &s.List[i]; f.isContent(roles) {
			all = append(all, content{f.Hash, f.Bytes})
		}
	}
	slices.SortFunc(all, content.compare)
	return slices.Compact(all)
}

// isContent reports whether the file has one of these roles and a content.
func (f *SourceFile) isContent(roles []string) bool {
	return f.Hash != "" && f.Bytes > 0 && slices.Contains(roles, f.role())
}

// IsA reports whether the file has that role, such as [RoleReport].
func (f *SourceFile) IsA(role string) bool { return f.role() == role }

// role is the file's role. Documents of the first version have none: then the name decides.
func (f *SourceFile) role() string {
	if f.Role != "" {
		return f.Role
	}
	base := path.Base(f.Path)
	switch {
	case strings.HasSuffix(base, ".yaml"):
		return RoleConfig
	case strings.Contains(base, "_clat_hist."):
		return RoleLog
	}
	for _, kind := range []string{"_clat.", "_slat.", "_lat.", "_bw.", "_iops."} {
		if strings.Contains(base, kind) {
			return RoleRaw
		}
	}
	return RoleReport
}

// Hashes are the hashes by which a stored run of the same execution can be found, each once:
// those of all reports and logs that are not empty.
func (s *Source) Hashes() []string {
	var hashes []string
	for _, c := range s.contents(RoleReport, RoleLog, RoleRaw) {
		hashes = append(hashes, c.hash)
	}
	return slices.Compact(hashes)
}

// SameExecution reports whether two runs belong to one execution of fio. They are if they share a
// report, unless they are [PartsOfOne]. If one of them has no report, they are if they share a
// log of 1 KB or more, or if the other one has all of its logs. Configuration does not count.
// If both have reports and share none, a common log was left in the folder by an earlier run.
func SameExecution(a, b *Source) bool {
	reportsA, reportsB := a.contents(RoleReport), b.contents(RoleReport)
	switch {
	case shares(reportsA, reportsB):
		return !PartsOfOne(a, b)
	case len(reportsA) > 0 && len(reportsB) > 0:
		return false
	}
	logsA, logsB := a.contents(RoleLog, RoleRaw), b.contents(RoleLog, RoleRaw)
	large := slices.DeleteFunc(slices.Clone(logsA), content.isTrivial)
	return shares(large, logsB) || len(reportsA) == 0 && within(logsA, logsB) || len(reportsB) == 0 && within(logsB, logsA)
}

// PartsOfOne reports whether two runs have logs of the same kind, but none in common. If they
// share a report, they are two parts of one execution, such as those of two log prefixes.
func PartsOfOne(a, b *Source) bool {
	if shares(a.contents(RoleLog, RoleRaw), b.contents(RoleLog, RoleRaw)) {
		return false
	}
	both := func(role string) bool { return len(a.contents(role)) > 0 && len(b.contents(role)) > 0 }
	return both(RoleLog) || both(RoleRaw)
}

// shares reports whether two sorted lists have a content in common.
func shares(a, b []content) bool {
	return slices.ContainsFunc(a, func(c content) bool { return isIn(c, b) })
}

// within reports whether a is not empty and all of it is in b, which is sorted.
func within(a, b []content) bool {
	return len(a) > 0 && !slices.ContainsFunc(a, func(c content) bool { return !isIn(c, b) })
}

func isIn(c content, sorted []content) bool {
	_, ok := slices.BinarySearchFunc(sorted, c, content.compare)
	return ok
}

// Contains reports whether s has all files of other: see [Source.MissingFrom].
func (s *Source) Contains(other *Source) bool { return len(other.MissingFrom(s)) == 0 }

// MissingFrom are the files of s whose content other lacks. Reports and histogram logs count. If
// s has neither, its other logs count; settings decide whether those are read. Empty files do
// not count.
func (s *Source) MissingFrom(other *Source) []SourceFile {
	roles := []string{RoleReport, RoleLog}
	if len(s.contents(roles...)) == 0 {
		roles = []string{RoleRaw}
	}
	have := other.contents(RoleReport, RoleLog, RoleRaw, RoleOther)
	var missing []SourceFile
	for _, f := range s.List {
		if f.isContent(roles) && !isIn(content{f.Hash, f.Bytes}, have) {
			missing = append(missing, f)
		}
	}
	return missing
}

// Count is how many files of a role there are.
func (s *Source) Count(role string) (n int) {
	for i := range s.List {
		if s.List[i].IsA(role) {
			n++
		}
	}
	return n
}

// Reports are fio's reports that are not empty.
func (s *Source) Reports() []SourceFile {
	return slices.DeleteFunc(slices.Clone(s.List), func(f SourceFile) bool { return !f.isContent([]string{RoleReport}) })
}

// SharesReport reports whether other has a report of s, too.
func (s *Source) SharesReport(other *Source) bool {
	return shares(s.contents(RoleReport), other.contents(RoleReport))
}

// Best is the run to keep of several of one execution. It prefers, in this order, one that was
// read after fio had ended, one with the files of others, a complete one, one with more files,
// and the one that was stored last. It is nil if there are none.
func Best(runs []*Run) *Run {
	if len(runs) == 0 {
		return nil
	}
	return slices.MaxFunc(runs, func(a, b *Run) int {
		return cmp.Or(trueLast(!a.Run.Live(), !b.Run.Live()), trueLast(a.Source.Contains(&b.Source), b.Source.Contains(&a.Source)),
			trueLast(a.Run.Complete, b.Run.Complete), cmp.Compare(len(a.Source.List), len(b.Source.List)),
			a.Ingested.Compare(b.Ingested), cmp.Compare(b.Run.ID, a.Run.ID))
	})
}

// trueLast compares two answers: true comes after false.
func trueLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
