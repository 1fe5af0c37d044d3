package assign_test

import (
	"cmp"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/layout"
)

// TestKinds: names say what files are; the content of a file counts where the user named it.
func TestKinds(t *testing.T) {
	tests := []struct {
		name, path, text      string
		named, beside, listed string // what it is if the user names it, if it lies beside a log and in a folder alone
	}{
		{"a log", "x_clat_hist.1.log.h1", "", "log clat_hist x 1 h1", "log clat_hist x 1 h1", "log clat_hist x 1 h1"},
		{"another log", "output.0_bw.2.log", "", "log bw output.0 2 ", "log bw output.0 2 ", "log bw output.0 2 "},
		{"a report of CBT", "output.0.h1", fioReport(job{"j"}), "report", "report", "report"},
		{"a report by its suffix", "x.json", "{}", "left", "report", "report"},
		{"a report by its content", "x.dat", fioReport(job{"j"}), "report", "report", "report"},
		{"a report with the name of a job file", "x.fio", fioReport(job{"j"}), "report", "report", "report"},
		{"a report with a number", "x.json.1", fioReport(job{"j"}), "report", "report", "report"},
		{"a job file", "x.fio", "[a]\n", "job", "job", "job"},
		{"a configuration", layout.ConfigName, "", "", "", ""},
		{"rows of histograms", "x.csv", histRow(1856), "log clat_hist x.csv 0 ", "", ""},
		{"completions", "x.txt", "1, 12345, 0, 4096\n", "log clat x 0 ", "report", "report"},
		{"completions of a kind", "my_slat.txt", "1, 12345, 0, 4096\n", "log slat my_slat 0 ", "report", "report"},
		{"averages of a kind", "my_iops.txt", "1000, 12345, 0, 0\n", "log iops my_iops 0 ", "report", "report"},
		{"averages of no kind", "x.txt", "1000, 12345, 0, 0\n", "left", "report", "report"},
		{"any text", "README", "read me\n", "left", "", ""},
		{"a copy of a log", "x_clat_hist.1.log.bak", "", "log clat_hist x 1 ", "left", "left"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			alone := tree{tt.path: tt.text}.write(t, "arch")
			beside := tree{tt.path: tt.text, "a_lat.9.log": ""}.write(t, "arch")
			for how, arg := range map[string]string{tt.named + "!named": filepath.Join(alone, tt.path), tt.beside + "!beside": beside, tt.listed + "!listed": alone} {
				want, how, _ := strings.Cut(how, "!")
				if got := assign.KindOf(t.Context(), scan(t, arg), tt.path); got != want {
					t.Errorf("%s: %q, want %q", how, got, want)
				}
			}
		})
	}
}

// TestOldReports: a report whose name says that it is old is left only where the other is.
func TestOldReports(t *testing.T) {
	report := fioReport(job{"j"})
	files := scan(t, tree{"x.json": report, "x.json.bak": report, "y.json~": report, "x (1).json": report, "x_clat_hist.1.log": "", "output.0": "", "output.0.1": ""}.write(t, "arch"))
	for _, f := range files {
		want := map[string]string{"x.json.bak": "left", "x_clat_hist.1.log": "log clat_hist x 1 "}[f.Path]
		if got := assign.KindOf(t.Context(), files, f.Path); got != cmp.Or(want, "report") {
			t.Errorf("%s: %s", f.Path, got)
		}
	}
}

// TestSplitPrefix: a number at the end of a prefix is a volume, but not the fraction of a time.
func TestSplitPrefix(t *testing.T) {
	for prefix, want := range map[string]string{
		"output.0": "output 0", "run2.12": "run2 12", "output": "output ", "pkb_fio_avg_1506559526.49": "pkb_fio_avg_1506559526.49 ",
	} {
		if family, volume := layout.SplitPrefix(prefix); family+" "+volume != want {
			t.Errorf("%s: %q %q, want %q", prefix, family, volume, want)
		}
	}
}
