package pipeline_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// ingested reads the one run of a folder.
func ingested(t *testing.T, dir string, opt pipeline.Options) ([]*mapping.Interval, *pipeline.Result) {
	t.Helper()
	archive, err := pipeline.Open(t.Context(), []string{dir}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if len(archive.Runs) != 1 {
		t.Fatalf("%d runs, want 1", len(archive.Runs))
	}
	docs, res, err := Documents(t.Context(), archive.Runs[0], opt)
	if err != nil {
		t.Fatal(err)
	}
	return docs, res
}

func maxOf(t *testing.T, lat *mapping.Latency) hist.Answer {
	t.Helper()
	h, err := lat.Hist()
	if err != nil {
		t.Fatal(err)
	}
	return h.Max()
}

// TestMoreGroupsWithUsualHost: one host has a rebuilt fio, another has not. No
// request is lost, and none has a latency that only one of them knows.
func TestMoreGroupsWithUsualHost(t *testing.T) {
	for name, c := range map[string]struct {
		spec fiotest.ArchiveSpec
		want string // layout of the windows
	}{
		"fio 3":         {fiotest.ArchiveSpec{Groups: 34}, "fio3/0"},
		"fio 3, coarse": {fiotest.ArchiveSpec{Groups: 34, Coarseness: 3}, "fio3/3"},
		"fio 3, less":   {fiotest.ArchiveSpec{Groups: 24}, "fio3/0/24"},
		"fio 2":         {fiotest.ArchiveSpec{Groups: 24, Fio2: true}, "fio3/0"},
		"fio 2, coarse": {fiotest.ArchiveSpec{Groups: 24, Fio2: true, Coarseness: 2}, "fio3/2"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := c.spec
			spec.Runs, spec.Hosts, spec.Jobs, spec.Seconds, spec.FirstOnly = 1, 2, 2, 90, true
			spec.StallEvery, spec.LongestStall, spec.Seed = 10, 30, 5
			dir := t.TempDir()
			if _, err := spec.WriteDir(dir); err != nil {
				t.Fatal(err)
			}
			docs, res := ingested(t, dir, pipeline.Options{Window: time.Second})
			if len(res.Skipped) > 0 || len(res.Notes) != 1 || !strings.Contains(res.Notes[0].Error(), "different numbers of groups") {
				t.Errorf("lost %v, notes %v", res.Skipped, res.Notes)
			}
			want, _, tails := truthOf(t, spec, spec.Run(0))
			got := map[series]int64{}
			for _, d := range docs {
				got[series{d.Level, d.Fio.Direction, d.Host.Name, ""}] += d.DocCount
				if d.Latency.Layout != c.want {
					t.Fatalf("a window has layout %s, want %s", d.Latency.Layout, c.want)
				}
			}
			for s, n := range got {
				if want[s] != n {
					t.Errorf("%+v: %d requests, want %d", s, n, want[s])
				}
			}
			if res.Run.Recovered.Requests != tails {
				t.Errorf("%d recovered, want %d", res.Run.Recovered.Requests, tails)
			}
			if most := maxOf(t, &res.Run.All.Latency); !most.Open {
				t.Errorf("the slowest of all took %+v", most)
			}
		})
	}
}

// TestMoreGroupsKnown: the slowest request of a run whose fios all have bins for it.
func TestMoreGroupsKnown(t *testing.T) {
	spec := fiotest.ArchiveSpec{Runs: 1, Hosts: 2, Jobs: 1, Seconds: 400, Fio2: true, Groups: 24, StallEvery: 60, LongestStall: 200, Seed: 3}
	dir := t.TempDir()
	if _, err := spec.WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	_, res := ingested(t, dir, pipeline.Options{Window: time.Second})
	if len(res.Skipped)+len(res.Notes) > 0 {
		t.Errorf("lost %v, notes %v", res.Skipped, res.Notes)
	}
	slowest := 0.0
	for h := range spec.Hosts {
		truth, err := spec.Run(0).Log(h, 0).Truth()
		if err != nil {
			t.Fatal(err)
		}
		for d := range truth.Logged {
			for i, n := range truth.Whole(d) {
				if n > 0 {
					low, _ := fiotest.BinBounds2(min(i, fiotest.Bins2-1))
					slowest = max(slowest, float64(low))
				}
			}
		}
	}
	most := maxOf(t, &res.Run.All.Latency)
	if most.Open || most.Low < 17.18e9 || slowest == 0 || res.Run.All.Latency.Layout != "fio2/0/24" {
		t.Errorf("the slowest took %+v, in %s", most, res.Run.All.Latency.Layout)
	}
}

// TestUsualColumnsOfAnotherLayout: 1856 columns of coarseness 1 are 58 groups, which a note
// says.
func TestUsualColumnsOfAnotherLayout(t *testing.T) {
	spec := fiotest.ArchiveSpec{Runs: 1, Hosts: 1, Jobs: 1, Seconds: 5, Groups: 58, Coarseness: 1}
	dir := t.TempDir()
	if _, err := spec.WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	docs, res := ingested(t, dir, pipeline.Options{})
	if len(res.Skipped) > 0 || len(res.Notes) != 1 || !strings.Contains(res.Notes[0].Error(), "1856 bins are usually fio 3, coarseness 0, but are read as fio 3 with 58 groups, coarseness 1") {
		t.Errorf("lost %v, notes %v", res.Skipped, res.Notes)
	}
	if got := docs[0].Latency.Layout; got != "fio3/1/58" {
		t.Errorf("layout %s", got)
	}
}

// TestMoreGroupsWithoutReport: a log alone is read with what the user says, and else refused
// with what to say.
func TestMoreGroupsWithoutReport(t *testing.T) {
	for c := range 4 {
		for _, log := range []fiotest.LogSpec{{Fio2: true, Groups: 24}, {Groups: 34}} {
			log.Coarseness, log.Seconds = c, 5
			var text bytes.Buffer
			truth, err := log.Write(&text)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "x_clat_hist.1.log"), text.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			right := hist.Hint{Unit: hist.Nanoseconds, Groups: log.Groups}
			if log.Fio2 {
				right.Unit = hist.Microseconds
			}
			_, res := ingested(t, dir, pipeline.Options{Bins: right})
			logged, _ := truth.Requests(fiotest.Read)
			version := map[bool]int{true: 2, false: 3}[log.Fio2]
			want := fmt.Sprintf("fio%d/%d/%d", version, c, log.Groups)
			if res.Run == nil || requests(res.Run.All) != int64(logged) || res.Run.All.Latency.Layout != want {
				t.Errorf("%s: %+v, lost %v", want, res.Run, res.Skipped)
			}
			for hint, says := range map[hist.Hint]string{
				{}:                             "FIO2ES_UNIT=ns or FIO2ES_UNIT=us, or put fio's JSON report beside the logs",
				{Unit: right.Unit, Groups: 40}: fmt.Sprintf("%d bins contradict 40 groups of %s", log.Columns(), right.Unit),
			} {
				docs, res := ingested(t, dir, pipeline.Options{Bins: hint})
				if len(docs) > 0 || len(res.Skipped) == 0 || !strings.Contains(res.Skipped[0].Error(), says) {
					t.Errorf("%s with %v: %d documents, lost %v", want, hint, len(docs), res.Skipped)
				}
			}
		}
	}
}

// TestMoreGroupsInReports: periodic reports have the layout of the last of them, which is the
// first whose bins show that fio was rebuilt.
func TestMoreGroupsInReports(t *testing.T) {
	minutes, err := hist.NewLayout(hist.Nanoseconds, 34, 0)
	if err != nil {
		t.Fatal(err)
	}
	quick, slow := minutes.Representative(1000), minutes.Representative(minutes.Index(60e9))
	last := minutes.Representative(1855)
	var text strings.Builder
	for i := int64(1); i <= 5; i++ {
		bins, n := fmt.Sprintf(`"%d": %d, "%d": 1`, quick, 10*i, last), 10*i+1
		if i == 5 {
			bins, n = bins+fmt.Sprintf(`, "%d": 1`, slow), n+1
		}
		fmt.Fprintf(&text, "{\n\"fio version\": \"fio-3.33\", \"timestamp_ms\": %d, \"jobs\": [{\"jobname\": \"a\", \"job_runtime\": %d, \"read\": {\"total_ios\": %d, \"runtime\": %[2]d, \"clat_ns\": {\"bins\": {%[4]s}}}}]}\n",
			1_700_000_000_000+i*1000, i*1000, n, bins)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "out.json"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for groups, want := range map[int]string{0: "fio3/0/31", 34: "fio3/0/34", 29: "fio3/0"} {
		docs, res := ingested(t, dir, pipeline.Options{Bins: hist.Hint{Groups: groups}})
		if len(res.Skipped) > 0 || res.Run == nil || requests(res.Run.All) != 52 {
			t.Fatalf("%d groups: %+v, lost %v, notes %v", groups, res.Run, res.Skipped, res.Notes)
		}
		for _, d := range docs {
			if d.Latency.Layout != want {
				t.Errorf("%d groups: layout %s, want %s", groups, d.Latency.Layout, want)
			}
		}
		if most := maxOf(t, &res.Run.All.Latency); most.Open != (groups == 29) || groups != 29 && (most.Low > 60e9 || most.High < 60e9) {
			t.Errorf("%d groups: the slowest took %+v", groups, most)
		}
	}
}

// TestSettingsOfBins: what documents are made of changes with what is said of the bins, and
// only if something is.
func TestSettingsOfBins(t *testing.T) {
	plain, said := pipeline.Options{}, pipeline.Options{Bins: hist.Hint{Groups: 34}}
	if strings.Contains(plain.Fingerprint(), "bins") || plain.Fingerprint() == said.Fingerprint() {
		t.Errorf("%q and %q", plain.Fingerprint(), said.Fingerprint())
	}
}
