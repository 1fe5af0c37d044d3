package mapping

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The roles of files, as [SourceFile].Role.
const (
	RoleReport = "report" // fio's output that covers jobs of the run: JSON, terse or text
	RoleLog    = "log"    // a histogram log
	RoleRaw    = "raw"    // a log of single completions or of averages
	RoleUnread = "unread" // the same beside histogram logs, which have its requests: only its size and beginning are known
	RoleConfig = "config" // of CBT; runs share it, so it identifies none
	RoleOther  = "other"  // output of fio that covers no job of the run
)

// trivialBytes is the size below which two logs may be equal by chance.
const trivialBytes = 1 << 10

// The formats of reports, as in [SourceFile].Begin. Each is less exact than those before.
var formats = []string{FormatJSONPlus, FormatJSON, "normal", "terse"}

// JSON with and without bins.
const (
	FormatJSONPlus = "json+"
	FormatJSON     = ""
)

func isJSON(format string) bool { return format == FormatJSONPlus || format == FormatJSON }

// content identifies a file by its content, not by its path and name: a report by what it says, and other files by their
// bytes.
type content struct {
	hash  string
	bytes int64
}

func (f *SourceFile) content() content {
	if f.Says != "" {
		return content{hash: f.Says}
	}
	return content{f.Hash, f.Bytes}
}

// Key is what identifies the file among others: see [Source.Hashes].
func (f *SourceFile) Key() string { return f.content().hash }

// RunID returns the id of a run that no store has yet. It is 20 hexadecimal digits, made from the contents of the run's
// reports or, without reports, of its logs. Names do not change it. Runs that are parts of one report have the same id:
// see [PartID].
func RunID(s *Source) string {
	for _, role := range []string{RoleReport, RoleLog} {
		if files := s.files(role); len(files) > 0 {
			return idOf(files)
		}
	}
	return idOf(s.files(RoleRaw))
}

// PartID returns the id of a run that shares its reports with other runs, such as one log prefix of several. It is made
// from the contents of the run's logs and reports.
func PartID(s *Source) string { return idOf(s.files(RoleReport, RoleLog, RoleRaw)) }

// StageID returns the id of a stage of an execution, which is a run. The only stage of an execution has its id.
func StageID(execution string, stage, stages int) string {
	if stages <= 1 {
		return execution
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s stage %d of %d", execution, stage, stages))
	return hex.EncodeToString(sum[:10])
}

// idOf ignores trivial contents unless there are no others.
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

// contents returns the contents of the files with these roles, sorted and without duplicates. It skips empty files and
// files that could not be read.
func (s *Source) contents(roles ...string) []content { return s.list((*SourceFile).content, roles) }

// files returns the same of the files' bytes, from which ids are made.
func (s *Source) files(roles ...string) []content {
	return s.list(func(f *SourceFile) content { return content{f.Hash, f.Bytes} }, roles)
}

func (s *Source) list(of func(*SourceFile) content, roles []string) (all []content) {
	for i := range s.List {
		if f := &s.List[i]; f.isContent(roles) {
			all = append(all, of(f))
		}
	}
	slices.SortFunc(all, content.compare)
	return slices.Compact(all)
}

func (f *SourceFile) isContent(roles []string) bool {
	return f.Key() != "" && f.Bytes > 0 && slices.Contains(roles, f.Role)
}

// Hashes returns what identifies the reports and logs that are not empty, and the beginnings of logs, without duplicates. A
// store finds a run of the same execution by them.
func (s *Source) Hashes() []string {
	var hashes []string
	for _, c := range s.contents(RoleReport, RoleLog, RoleRaw) {
		hashes = append(hashes, c.hash)
	}
	for begin := range s.begins(RoleReport, RoleLog, RoleRaw, RoleUnread) {
		hashes = append(hashes, begin)
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// Keys returns the hashes by which a store finds the runs that can be the same execution: those of files that may be in
// any run, and those of logs that count only in runs without a report. Two runs with reports are the same only by these.
func (s *Source) Keys() (files, logs []string) {
	reports := s.contents(RoleReport)
	if len(reports) == 0 {
		return s.Hashes(), nil
	}
	for _, c := range reports {
		files = append(files, c.hash)
	}
	return slices.AppendSeq(files, maps.Keys(s.otherFormats())), s.Hashes()
}

// begins returns [SourceFile].Begin of the files with these roles, each with the size in bytes of the largest file that has it.
func (s *Source) begins(roles ...string) map[string]int64 {
	sizes := map[string]int64{}
	for i := range s.List {
		if f := &s.List[i]; f.Begin != "" && !strings.HasSuffix(f.Begin, "-") && slices.Contains(roles, f.Role) {
			sizes[f.Begin] = max(sizes[f.Begin], f.Bytes)
		}
	}
	return sizes
}

// sharesLog reports whether two runs have a log in common, or the same log copied to different lengths.
func sharesLog(a, b *Source) bool {
	large := slices.DeleteFunc(a.contents(RoleLog, RoleRaw), content.isTrivial)
	if shares(large, b.contents(RoleLog, RoleRaw)) {
		return true
	}
	return overlap(a.begins(RoleLog, RoleRaw, RoleUnread), b.begins(RoleLog, RoleRaw, RoleUnread))
}

func overlap(a, b map[string]int64) bool {
	for key := range a {
		if b[key] > 0 {
			return true
		}
	}
	return false
}

// otherFormats returns what [SourceFile].Begin of the reports is in other formats.
func (s *Source) otherFormats() map[string]int64 {
	others := map[string]int64{}
	for begin, size := range s.begins(RoleReport) {
		format, numbers, _ := strings.Cut(begin, "-")
		for _, other := range formats {
			if other != format && !(isJSON(other) && isJSON(format)) { // these have the same Says
				others[other+"-"+numbers] = size
			}
		}
	}
	return others
}

// rounding is the place of the least exact format of the reports in formats.
func (s *Source) rounding() (most int) {
	for _, f := range s.Reports() {
		format, _, _ := strings.Cut(f.Begin, "-")
		most = max(most, slices.Index(formats, format))
	}
	return most
}

// IsMoreExact reports whether the reports of s are of a more exact format than those of other: with bins, without, fio's normal
// output, and terse.
func (s *Source) IsMoreExact(other *Source) bool { return s.rounding() < other.rounding() }

// SameExecution reports whether two runs belong to one execution of fio. If both have reports, they must share one, maybe in
// another file or format, and not be [PartsOfOne]. A log that both have without a common report was left in the folder by an earlier run. If one of
// them has no report, they must share a log of 1 KB or more or the beginning of a log ([SourceFile].Begin), or the other
// one must have all of its logs. Configuration files do not matter.
func SameExecution(a, b *Source) bool {
	reportsA, reportsB := a.contents(RoleReport), b.contents(RoleReport)
	switch {
	case a.SharesReport(b):
		return !PartsOfOne(a, b)
	case len(reportsA) > 0 && len(reportsB) > 0:
		return false
	}
	isWithin := func(a, b *Source) bool {
		logs, all := a.contents(RoleLog, RoleRaw), b.contents(RoleLog, RoleRaw)
		return len(logs) > 0 && !slices.ContainsFunc(logs, func(c content) bool { return !isIn(c, all) })
	}
	return sharesLog(a, b) || len(reportsA) == 0 && isWithin(a, b) || len(reportsB) == 0 && isWithin(b, a)
}

// OtherStage reports whether two runs of an execution are different stages of it. If it was divided into another number of
// stages, because more or fewer of its files were there, both may have the same requests.
func OtherStage(stage, stages, otherStage, otherStages int) bool {
	return stages > 1 && stages == otherStages && stage != otherStage
}

// PartsOfOne reports whether two runs have logs of the same kind, but none in common. If they share a report, they are
// two parts of one execution, such as those of two log prefixes.
func PartsOfOne(a, b *Source) bool {
	if sharesLog(a, b) || shares(a.contents(RoleLog, RoleRaw), b.contents(RoleLog, RoleRaw)) {
		return false
	}
	if differ, cut := b.compareNames(a); cut && !differ {
		return false
	}
	both := func(role string) bool { return len(a.contents(role)) > 0 && len(b.contents(role)) > 0 }
	return both(RoleLog) || both(RoleRaw)
}

// compareNames compares logs of the same name. differ: two have different beginnings. cut: one is too short to have a Begin,
// so it may be a part of the other.
func (s *Source) compareNames(other *Source) (differ, cut bool) {
	begins := map[string]string{}
	for i := range s.List {
		if f := &s.List[i]; f.isContent([]string{RoleLog, RoleRaw}) && f.Path != "" {
			begins[path.Base(f.Path)] = f.Begin
		}
	}
	for i := range other.List {
		f := &other.List[i]
		begin, ok := begins[path.Base(f.Path)]
		if !ok || !f.isContent([]string{RoleLog, RoleRaw}) {
			continue
		}
		differ = differ || begin != "" && f.Begin != "" && begin != f.Begin
		cut = cut || begin == "" || f.Begin == ""
	}
	return differ, cut
}

// shares reports whether two sorted lists have a content in common.
func shares(a, b []content) bool {
	return slices.ContainsFunc(a, func(c content) bool { return isIn(c, b) })
}

func isIn(c content, sorted []content) bool {
	_, ok := slices.BinarySearchFunc(sorted, c, content.compare)
	return ok
}

// Contains reports whether s has all files of other: see [Source.MissingFrom].
func (s *Source) Contains(other *Source) bool { return len(other.MissingFrom(s)) == 0 }

// MissingFrom returns the files of s whose content other lacks. A log is also there if other has a longer copy of it, or one of
// its size that was not read, and a report if other has it in another file or format.
// Only reports and histogram logs are compared. If s has neither, its other logs are compared, because settings decide
// whether they are read. Empty files are ignored.
func (s *Source) MissingFrom(other *Source) []SourceFile {
	roles := []string{RoleReport, RoleLog}
	if len(s.contents(roles...)) == 0 {
		roles = []string{RoleRaw}
	}
	have := other.contents(RoleReport, RoleLog, RoleRaw, RoleOther)
	begins, reports := other.begins(RoleLog, RoleRaw, RoleUnread), other.otherFormats()
	var missing []SourceFile
	for _, f := range s.List {
		isSame := func(o SourceFile) bool { return o.Role == RoleUnread && o.Begin == f.Begin && o.Bytes == f.Bytes }
		isThere := f.Begin != "" && (begins[f.Begin] > f.Bytes || reports[f.Begin] > 0 || slices.ContainsFunc(other.List, isSame))
		if f.isContent(roles) && !isThere && !isIn(f.content(), have) {
			missing = append(missing, f)
		}
	}
	return missing
}

// HasPartOf reports whether s, which is of the same execution, has only a shorter copy of a log. A log that is too short to
// have a Begin is known by its name.
func (s *Source) HasPartOf(log *SourceFile) bool {
	return slices.ContainsFunc(s.List, func(f SourceFile) bool {
		isSame := f.Begin == log.Begin
		if f.Begin == "" {
			isSame = f.Path != "" && path.Base(f.Path) == path.Base(log.Path)
		}
		return isSame && f.Bytes < log.Bytes && f.isContent([]string{RoleLog, RoleRaw})
	})
}

// Count returns the number of files with a role.
func (s *Source) Count(role string) (n int) {
	for i := range s.List {
		if s.List[i].Role == role {
			n++
		}
	}
	return n
}

// Reports returns fio's reports that are not empty.
func (s *Source) Reports() []SourceFile {
	return slices.DeleteFunc(slices.Clone(s.List), func(f SourceFile) bool { return !f.isContent([]string{RoleReport}) })
}

// SharesReport reports whether s and other have a report in common, maybe in another file or format.
func (s *Source) SharesReport(other *Source) bool {
	return shares(s.contents(RoleReport), other.contents(RoleReport)) || overlap(s.begins(RoleReport), other.otherFormats())
}

// Best returns the run to keep of several of one execution, or nil if there are none. It prefers, in this order, a run
// that was read after fio had ended, one with the files of others, one of more exact reports, a complete one, one with more files, and the one
// that was stored last.
func Best(runs []*Run) *Run {
	if len(runs) == 0 {
		return nil
	}
	return slices.MaxFunc(runs, func(a, b *Run) int {
		return cmp.Or(trueLast(!a.Run.Live(), !b.Run.Live()), trueLast(a.Source.Contains(&b.Source), b.Source.Contains(&a.Source)),
			cmp.Compare(b.Source.rounding(), a.Source.rounding()), trueLast(a.Run.Complete, b.Run.Complete), cmp.Compare(len(a.Source.List), len(b.Source.List)),
			a.Ingested.Compare(b.Ingested), cmp.Compare(b.Run.ID, a.Run.ID))
	})
}

// trueLast compares two bools: true comes after false.
func trueLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
