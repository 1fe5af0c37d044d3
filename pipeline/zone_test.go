package pipeline_test

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// planOfZip is the plan of a zip with a log of five seconds for each time. Local times are the readings of a clock on a
// wall, as zips without Unix times have them.
func planOfZip(t *testing.T, isLocal bool, times ...time.Time) (stages []*pipeline.Result) {
	t.Helper()
	var log strings.Builder
	if _, err := (fiotest.LogSpec{Seconds: 5}).Write(&log); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for i, at := range times {
		header := &zip.FileHeader{Name: fmt.Sprintf("x_clat_hist.%d.log", i+1), Modified: at}
		if isLocal {
			header.Modified = time.Time{}
			//lint:ignore SA1019 Modified would write the time zone that is missing here
			header.ModifiedDate, header.ModifiedTime = uint16(at.Year()-1980)<<9|uint16(at.Month())<<5|uint16(at.Day()),
				uint16(at.Hour())<<11|uint16(at.Minute())<<5|uint16(at.Second()/2)
		}
		w, err := z.CreateHeader(header)
		if err == nil {
			_, err = w.Write([]byte(strings.Replace(log.String(), "1000,", fmt.Sprintf("%d,", 1000+i), 1))) // no copy of the one before
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if z.Close() != nil || f.Close() != nil {
		t.Fatal(file)
	}
	a, err := pipeline.Open(t.Context(), []string{file}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for stage, err := range pipeline.Stages(t.Context(), a.Runs[0], pipeline.Options{}, true) {
		if err != nil {
			t.Fatal(err)
		}
		stages = append(stages, stage.Planned())
	}
	return stages
}

// A zip without Unix times has the time of a clock on a wall: how far it is from UTC, nothing
// says. One with them is exact to two seconds.
func TestStartFromAZip(t *testing.T) {
	written := time.Date(2026, 3, 1, 12, 0, 5, 0, time.UTC) // one file; an even second might be one of steps of two
	for isLocal, want := range map[bool]time.Duration{true: plan.ErrorOfZone, false: plan.ErrorOfCoarse} {
		p := planOfZip(t, isLocal, written)[0]
		said := strings.Contains(fmt.Sprint(p.Notes), "its zip keeps times without a time zone")
		if p.Plan.Error != want || said != isLocal || p.Plan.Start.Hour() != 12 && p.Plan.Start.Hour() != 11 {
			t.Errorf("local %v: %v ± %v, notes %v; want ± %v", isLocal, p.Plan.Start, p.Plan.Error, p.Notes, want)
		}
	}
}

// TestSummerTime: jobs of five seconds, one after the other, in the night in which clocks are changed. The zip has no time
// zone, so their order and distance are unknown: each is a run of its own, and a note says that its start may be hours off.
func TestSummerTime(t *testing.T) {
	at := func(clock string) time.Time {
		at, err := time.Parse("2006-01-02 15:04:05", "2026-03-29 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct{ name, first, second string }{
		{"no change", "01:59:56", "02:00:02"}, {"to summer time", "01:59:56", "03:00:02"}, {"from summer time", "02:59:56", "02:00:02"},
	} {
		stages := planOfZip(t, true, at(c.first), at(c.second))
		for _, p := range stages {
			if len(stages) != 2 || len(p.Plan.Jobs) != 1 || p.Plan.Error != plan.ErrorOfZone || !strings.Contains(fmt.Sprint(stages[0].Notes), "without a time zone") {
				t.Errorf("%s: %d runs, the first with %d jobs, ± %v, notes %v", c.name, len(stages), len(p.Plan.Jobs), p.Plan.Error, stages[0].Notes)
			}
		}
	}
}
