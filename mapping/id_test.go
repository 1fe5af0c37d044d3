package mapping_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// The ids are stored in histories: they must never change.
func TestIDsStay(t *testing.T) {
	d := sample(3)
	for name, c := range map[string]struct{ got, want string }{
		"run":      {mapping.RunID(&sampleRun().Source), "59b05d73c589cd75fbc6"},
		"interval": {d.ID(), "b01b76278897f5702ad8a1be3c33f48713d05cfe"},
	} {
		if c.got != c.want {
			t.Errorf("%s: id is %s, was %s", name, c.got, c.want)
		}
	}
}

func TestIDsOfDocumentsDiffer(t *testing.T) {
	seen := map[string]string{sample(3).ID(): "the document"}
	for name, change := range map[string]func(*mapping.Interval){
		"run":       func(d *mapping.Interval) { d.Run.ID = "r" },
		"level":     func(d *mapping.Interval) { d.Level = mapping.Host },
		"direction": func(d *mapping.Interval) { d.Fio.Direction = "read" },
		"host":      func(d *mapping.Interval) { d.Host.Name = "client-01.example.org1:1" },
		"no host":   func(d *mapping.Interval) { d.Host.Name = "" },
		"long host": func(d *mapping.Interval) { d.Host.Name = strings.Repeat("x", 5000) },
		"job":       func(d *mapping.Interval) { d.Fio.Job = "11" },
		"window":    func(d *mapping.Interval) { d.Window.ElapsedMS++ },
		"version":   func(d *mapping.Interval) { d.Run.Ingest = "other" },
		"part":      func(d *mapping.Interval) { d.Part = 2 },
	} {
		d := sample(3)
		change(d)
		if other := seen[d.ID()]; other != "" || len(d.ID()) > 100 {
			t.Errorf("%s: id %q, as of %q", name, d.ID(), other)
		}
		seen[d.ID()] = name
	}
	same := sample(3)
	same.Latency, same.Window.MS = mapping.Latency{}, 5
	if seen[same.ID()] != "the document" {
		t.Error("the id depends on more than what the document is of")
	}
}

func TestIndexNames(t *testing.T) {
	d := sample(1)
	d.Run.Start = time.Date(2026, 12, 1, 0, 30, 0, 0, time.FixedZone("", 3600)) // still November in UTC
	for period, want := range map[mapping.Period]string{mapping.Years: "fio-latency.job-2026", mapping.Months: "fio-latency.job-2026.11"} {
		if got := d.Index("fio", period); got != want {
			t.Errorf("index %s instead of %s", got, want)
		}
	}
	if got, want := mapping.RunsIndex("lab"), "lab-runs"; got != want {
		t.Errorf("index %s instead of %s", got, want)
	}
}

func TestLevels(t *testing.T) {
	for _, l := range []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job} {
		text, err := l.MarshalText()
		var back mapping.Level
		if err != nil || back.UnmarshalText(text) != nil || back != l {
			t.Errorf("%v came back as %v, %v", l, back, err)
		}
	}
	if _, err := mapping.ParseLevel("level 0"); !errors.Is(err, mapping.ErrIdentity) {
		t.Errorf("a wrong name: %v", err)
	}
	if _, err := mapping.Level(0).MarshalText(); !errors.Is(err, mapping.ErrIdentity) {
		t.Errorf("no level: %v", err)
	}
}

func ExampleRun_CompareLink() {
	run := mapping.Run{
		Run:      mapping.RunInfo{ID: "8fe166c243b8c1b3f47e", Start: time.Date(2026, 11, 21, 9, 12, 0, 0, time.UTC)},
		Workload: mapping.Workload{ID: "1-97eed06fbb11c148"},
	}
	fmt.Println(run.CompareLink())
	// Output: time:(from:'2026-08-23T09:11:59.000Z',to:'2026-11-21T09:12:01.000Z'))&_a=(query:(language:kuery,query:'workload.id:"1-97eed06fbb11c148"')
}

func ExampleRunInfo_Link() {
	start := time.Date(2026, 11, 21, 9, 12, 0, 0, time.UTC)
	run := mapping.RunInfo{ID: "8fe166c243b8c1b3f47e", Start: start, End: start.Add(34 * time.Minute)}
	fmt.Println(run.Link())
	// Output: time:(from:'2026-11-21T09:11:59.000Z',to:'2026-11-21T09:46:01.000Z'))&_a=(query:(language:kuery,query:'run.id:"8fe166c243b8c1b3f47e"')
}
