package layout

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

// PlaceOf finds out which program made the folders above a file, and reads the settings from their names. named means
// that the file's name has a host. The first folder is the archive's name, because the user may have given a folder from
// inside of an archive.
func (s *Tree) PlaceOf(f *evidence.File, named bool) Place {
	dir := FolderOf(f, path.Dir(f.Path))
	key := placeKey{dir, named}
	if at, ok := s.places[key]; ok {
		return at
	}
	parts := []string{dir.Archive}
	if dir.Path != "." {
		parts = append(parts, strings.Split(dir.Path, "/")...)
	}
	at, first := Place{}, 0 // the index of the first folder that CBT collected from hosts, whose name may have a host
	for i, part := range parts {
		isNumbered := i > 0 && iterationDir().MatchString(parts[i-1])
		if !hashDir().MatchString(part) && (!isNumbered || !isConfigDir(part)) {
			continue
		}
		at.Program, at.Config, first = OfCBT, join(parts[:i+1]), i+1
		if isNumbered {
			n, _ := strconv.Atoi(parts[i-1]) // of eight digits
			at.Known.Iteration = &n
		}
		if isNumbered && i > 1 {
			at.Root = join(parts[:i-1])
		}
		break
	}
	if first == 0 && s.readSample(&at, dir, parts) {
		s.places[key] = at
		return at
	}
	if first == 0 {
		// There may be no id- folder because the user moved what is in it. There must be no doubt that CBT made a folder,
		// because a host is split off its name.
		tail := len(parts)
		for tail > 1 && isSetting(parts[tail-1]) {
			tail--
		}
		if tail >= 2 && len(parts)-tail >= 2 {
			name, _, isDotted := strings.Cut(parts[tail-1], ".")
			isWorkload := strings.HasPrefix(parts[tail], "numjobs-") && strings.Contains(parts[tail+1], "iodepth-")
			if isDotted && (isWorkload || isSetting(name)) {
				first = tail - 1
			}
		}
	}
	if 0 < first && first < len(parts) {
		parts[first], at.Host = s.split(&at, dir, parts[first], named)
	}
	at.Folder = join(parts)
	// Outside of CBT's layout only numbers are settings, because other names may mean anything.
	hasNumbers := false
	for _, part := range parts[max(first, 1):] {
		of, digits, isNumber := folderNumber(part)
		m := modeSizeDir().FindStringSubmatch(part)
		switch {
		case isNumber:
			hasNumbers = true
			setDigits(of(&at.Known), digits)
		case first == 0:
		case isMode(part):
			at.Known.Mode = part
		case m != nil && isMode(m[1]):
			at.ModeSize, at.Known.Mode = true, m[1]
			setDigits(&at.Known.OpSize, m[2])
		}
	}
	if 0 < first && first < len(parts) {
		switch top := parts[first]; {
		case fioClasses[top]:
			at.Known.Benchmark = top
		case (hasNumbers || at.Host != "") && !isSetting(top):
			at.Known.Workload = top
		}
	}
	s.places[key] = at
	return at
}

// readSample finds the folder of a sample of pbench-fio: ITERATION/sampleN, or one of any name that has both. It returns false if the file is in no sample.
func (s *Tree) readSample(at *Place, dir Folder, parts []string) bool {
	isSample := func(i int) bool {
		of, ok := s.samples[dir.In(join(parts[:i+1]))]
		return ok && (of.hasReport && of.hasClients || sampleDir().MatchString(parts[i]))
	}
	i := len(parts) - 1
	for i >= 0 && !isSample(i) {
		i--
	}
	if i < 0 {
		return false
	}
	switch rest := parts[i+1:]; {
	case len(rest) == 0:
	case len(rest) == 2 && rest[0] == clientsDir:
		at.Host = rest[1]
	default:
		return false
	}
	at.Program, at.Folder, at.Known.Benchmark = OfSample, join(parts[:i+1]), mapping.PBench
	if i > 0 {
		if m := pbenchDir().FindStringSubmatch(parts[i-1]); m != nil && isMode(m[1]) {
			at.Known.Mode = m[1]
			if kib, err := strconv.ParseInt(m[2], 10, 32); err == nil {
				at.Known.OpSize = kib * 1024
			}
		}
	}
	return true
}

// join returns the path below the argument, without the archive's name.
func join(parts []string) string {
	if len(parts) < 2 {
		return "."
	}
	return path.Join(parts[1:]...)
}

// split divides the first folder below an id- folder into its name and a host. Both may have dots, so only the
// configuration is certain.
func (s *Tree) split(at *Place, dir Folder, top string, named bool) (name, host string) {
	name, host, ok := strings.Cut(top, ".")
	if !ok || isSetting(name) || fioClasses[name] {
		return name, host
	}
	for _, w := range s.FactsIn(s.Config(dir.In(at.Config), ConfigName)).Workloads { // the longest first
		if rest, ok := strings.CutPrefix(top, w); ok && (rest == "" || rest[0] == '.') {
			return w, strings.TrimPrefix(rest, ".")
		}
	}
	if named { // each file has its own
		return top, ""
	}
	for _, h := range s.FactsIn(s.Config(dir.In(at.Root), ArchiveConfigName)).Clients {
		if before, ok := strings.CutSuffix(top, "."+h); ok {
			return before, h
		}
	}
	if strings.Contains(host, ".") {
		at.Doubt = fmt.Sprintf("%s: %s is taken for a host: no configuration says where its name begins", top, host)
	}
	return name, host
}
