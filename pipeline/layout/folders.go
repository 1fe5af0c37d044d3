package layout

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/late"
	"github.com/fio2es/fio2es/mapping"
)

var (
	iterationDir = late.Regexp(`^\d{8}$`)
	hashDir      = late.Regexp(`^id-[0-9A-Fa-f]{8}$`) // as CBT makes them
	modeSizeDir  = late.Regexp(`^([a-z]+)_(\d+)$`)
	sampleDir    = late.Regexp(`^sample\d+$`)
	pbenchDir    = late.Regexp(`^\d+-([a-z]+)-(\d+)KiB`) // MODE-SIZE, the folder above
)

const (
	LibRBDFio    = "librbdfio"      // a class of CBT
	RBDFio       = "rbdfio"         // a class of CBT, and the folder that it puts its own into
	PBenchReport = "fio-result.txt" // fio's output in the folder of a sample
	resultsDir   = "results"        // CBT's, in the folder of the archive
	clientsDir   = "clients"        // in it are the folders of the hosts
	Localhost    = "localhost"      // the one host without fio --client
)

// fioClasses are CBT's benchmarks that run fio.
var fioClasses = map[string]bool{"fio": true, LibRBDFio: true, "rawfio": true, RBDFio: true, "kvmrbdfio": true}

// IsFioClass reports whether a benchmark of CBT runs fio.
func IsFioClass(benchmark string) bool { return fioClasses[benchmark] }

// numbers are the settings that are whole numbers, with all names that they have.
var numbers = []struct {
	of      func(*mapping.CBT) *int64
	folders []string // of folders, followed by the number: iodepth-32
	keys    []string // in benchmark_config.yaml, in order of precedence
}{
	{of: func(s *mapping.CBT) *int64 { return &s.OSDReadAhead }, folders: []string{"osd_ra", "raw_ra"}, keys: []string{"osd_ra"}},
	{of: func(s *mapping.CBT) *int64 { return &s.ReadAhead }, folders: []string{"client_ra"}, keys: []string{"client_ra"}},
	{of: func(s *mapping.CBT) *int64 { return &s.OpSize }, folders: []string{"op_size"}},             // its key has units
	{of: func(s *mapping.CBT) *int64 { return &s.TotalIODepth }, folders: []string{"total_iodepth"}}, // see fill
	{of: func(s *mapping.CBT) *int64 { return &s.IODepth }, folders: []string{"iodepth"}},
	{of: func(s *mapping.CBT) *int64 { return &s.NumJobs }, folders: []string{"numjobs"}, keys: []string{"numjobs"}},
	{
		of: func(s *mapping.CBT) *int64 { return &s.Procs }, folders: []string{"concurrent_procs"},
		keys: []string{"concurrent_procs", "procs_per_volume", "procs_per_endpoint"},
	},
	{of: func(s *mapping.CBT) *int64 { return &s.Volumes }, keys: []string{"volumes_per_client"}},
	{of: func(s *mapping.CBT) *int64 { return &s.RWMixRead }, keys: []string{"rwmixread"}},
	{of: func(s *mapping.CBT) *int64 { return &s.RunSeconds }, keys: []string{"time"}},
	{of: func(s *mapping.CBT) *int64 { return &s.RampSeconds }, keys: []string{"ramp"}},
}

// folderNumber is the setting that a folder's name has, such as iodepth-32, and its digits.
func folderNumber(part string) (of func(*mapping.CBT) *int64, digits string, ok bool) {
	name, digits, ok := strings.Cut(part, "-")
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, "", false
	}
	for _, n := range numbers {
		if slices.Contains(n.folders, name) {
			return n.of, digits, true
		}
	}
	return nil, "", false
}

// setDigits sets a setting to a number in a folder's name. It ignores a number that is too large.
func setDigits(to *int64, digits string) {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		*to = n
	}
}

// isConfigDir reports whether a folder may be that of one configuration, as CBT or people name it. Each file of a scan asks that of all
// folders above it, so it does without a regular expression.
func isConfigDir(name string) bool {
	digits, isCut := strings.CutPrefix(name, "id-")
	return isCut && digits != "" && strings.Trim(digits, "0123456789ABCDEFabcdef") == ""
}

// isMode reports whether a name is a value of fio's option rw. Layouts with folders use them as names of folders.
func isMode(name string) bool {
	mode, _ := fioargs.ParseMode(name)
	return mode != "" && !strings.Contains(name, ":")
}

func isSetting(part string) bool {
	_, _, isNumber := folderNumber(part)
	m := modeSizeDir().FindStringSubmatch(part)
	return isNumber || isMode(part) || m != nil && isMode(m[1])
}

// TotalOf returns the total_iodepth folder of an iodepth folder, if a path ends in them, or "".
func TotalOf(dir string) string {
	total := path.Dir(dir)
	_, digits, _ := folderNumber(path.Base(total))
	if digits == "" || !strings.HasPrefix(path.Base(total), "total_iodepth-") || !strings.HasPrefix(path.Base(dir), "iodepth-") {
		return ""
	}
	return total
}
