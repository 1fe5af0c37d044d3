package live

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/slo"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// second returns the window of a direction in second n of a run. Its requests take about ns nanoseconds.
func second(n int, direction string, ns float64) *window.Window {
	h := hist.New(hist.Fio3(0))
	layout := h.Layout()
	for i, count := range []float64{600, 300, 80, 15, 4, 1} {
		h.AddAt(layout.Index(int64(ns*math.Pow(1.6, float64(i)))), count)
	}
	lat := mapping.NewLatency(h, nil)
	at := start.Add(time.Duration(n) * time.Second)
	return window.From(&mapping.Interval{
		Time: at, Level: mapping.Cluster, Window: mapping.Window{End: at.Add(time.Second), MS: 1000, ElapsedMS: int64(n) * 1000},
		Run: mapping.RunRef{ID: "aa", Name: "job", Archive: "20261121-100000", Start: start, Ingest: "1"},
		Fio: mapping.FioRef{Direction: direction}, Latency: lat, DocCount: lat.Bins.Total(),
		Requests: mapping.Requests{Completed: lat.Bins.Total(), Weight: h.Total()}, IOPS: h.Total(), Bandwidth: 4096 * h.Total(),
	})
}

// view returns the view of a run after some seconds, with a stall each half minute.
func view(t fataler, seconds int, rules ...string) *View {
	var parsed []slo.Rule
	for _, text := range rules {
		r, err := slo.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, r)
	}
	v := New(parsed)
	v.Title, v.Every = "20261121-100000:job randrw 4K qd16", time.Second
	for n := range seconds {
		for _, direction := range []string{"read", "write"} {
			ns := 80e3 * (1.5 + math.Sin(float64(n)/9))
			if n%30 == 29 && direction == "write" {
				ns *= 90
			}
			if err := v.Add(second(n, direction, ns), Stage{Length: 5 * time.Minute, ToEnd: 5 * time.Minute}, start.Add(time.Duration(n+2)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return v
}

// TestScreens: what terminals of several sizes show.
func TestScreens(t *testing.T) {
	rules := []string{"p99 <= 1ms", "write.p99 <= 20ms in every window", "read.iops >= 2k"}
	for _, tt := range []struct {
		name    string
		seconds int
		silent  time.Duration
		size    Size
		change  func(*View)
	}{
		{"begin", 0, 2 * time.Second, Size{80, 24, false}, nil},
		{"few", 8, 2 * time.Second, Size{80, 24, false}, nil},
		{"80x24", 90, 2 * time.Second, Size{80, 24, false}, nil},
		{"80x24-colour", 90, 2 * time.Second, Size{80, 24, true}, nil},
		{"120x40", 200, 2 * time.Second, Size{120, 40, false}, nil},
		{"40x10", 90, 2 * time.Second, Size{40, 10, false}, nil},
		{"sweep", 8, 2 * time.Second, Size{80, 24, false}, func(v *View) { v.Title, v.Later = "run 3 of 24: bs=4k iodepth=16: fio job.fio", 105*time.Minute }},
		{"silent", 90, 17 * time.Second, Size{80, 24, false}, func(v *View) { v.stage, v.Message = Stage{}, "fio: \x1b[2J a message" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := view(t, tt.seconds, rules...)
			if tt.change != nil {
				tt.change(v)
			}
			lines, err := v.Lines(start.Add(time.Duration(tt.seconds)*time.Second+tt.silent), tt.size)
			if err != nil {
				t.Fatal(err)
			}
			golden.File(t, filepath.Join("testdata", tt.name+".txt"), strings.Join(lines, "\n")+"\n")
		})
	}
}

// TestStages: the view shows the numbers and rules of the stage that runs, and none of those before.
func TestStages(t *testing.T) {
	rule, err := slo.Parse("p99 <= 1ms")
	if err != nil {
		t.Fatal(err)
	}
	v := New([]slo.Rule{rule})
	v.Title = "fio job.fio"
	add := func(n int, direction string, ns float64, run *mapping.RunInfo, stage Stage) {
		t.Helper()
		w := second(n, direction, ns)
		w.Run, w.ElapsedMS = run, w.Start.Sub(run.Start).Milliseconds()
		if err := v.Add(w, stage, w.End); err != nil {
			t.Fatal(err)
		}
	}
	fill := &mapping.RunInfo{ID: "aa", Name: "job/fill", StageName: "fill", Start: start, Stage: 1, Stages: 3}
	read := &mapping.RunInfo{ID: "bb", Name: "job/4K/qd1", StageName: "4K/qd1", Start: start.Add(30 * time.Second), Stage: 2, Stages: 3}
	for n := range 30 {
		add(n, "write", 9e6, fill, Stage{Length: 30 * time.Second, ToEnd: 90 * time.Second})
	}
	for n := 30; n < 38; n++ {
		add(n, "read", 80e3, read, Stage{Length: 30 * time.Second, ToEnd: time.Minute})
	}
	lines, err := v.Lines(start.Add(40*time.Second), Size{80, 24, false})
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, filepath.Join("testdata", "stage.txt"), strings.Join(lines, "\n")+"\n")
	if lines, err = v.Lines(start.Add(99*time.Second), Size{80, 24, false}); err != nil || !strings.Contains(lines[2], " 30s of 30s, 0s left, 30s in all") {
		t.Errorf("%v when the stage should be over: %q", err, lines)
	}
}

// TestFits: a screen fits any terminal.
func TestFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := view(t, rapid.IntRange(0, 120).Draw(t, "seconds"), "p99 <= 1ms", "read.iops >= 2k")
		v.Message = rapid.String().Draw(t, "message")
		size := Size{rapid.IntRange(2, 200).Draw(t, "columns"), rapid.IntRange(1, 60).Draw(t, "lines"), rapid.Bool().Draw(t, "colour")}
		lines, err := v.Lines(start.Add(time.Duration(rapid.IntRange(-5, 1000).Draw(t, "now"))*time.Second), size)
		if err != nil || len(lines) > size.Lines {
			t.Fatalf("%d lines, %v", len(lines), err)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(plain(line)); n > size.Columns {
				t.Errorf("%d characters in %d columns: %s", n, size.Columns, line)
			}
		}
	})
}

// fataler is a [testing.T] or a [rapid.T].
type fataler interface{ Fatal(...any) }

// plain returns a line without colours.
func plain(line string) string {
	var b strings.Builder
	for i, part := range strings.Split(line, "\x1b[") {
		if _, text, ok := strings.Cut(part, "m"); ok && i > 0 {
			part = text
		}
		b.WriteString(part)
	}
	return b.String()
}

// TestForgets: what a view keeps of a long run is bounded.
func TestForgets(t *testing.T) {
	if v := view(t, 1000); len(v.windows) > 60 {
		t.Error(fmt.Sprint(len(v.windows), " windows"))
	}
}

// TestHalf: until all directions of the newest time have come, requests per second are those of the time before.
func TestHalf(t *testing.T) {
	v := view(t, 20)
	rates := func() string {
		sums, length, err := v.last()
		if err != nil {
			t.Fatal(err)
		}
		text := length.String()
		for _, w := range sums {
			text += fmt.Sprintf(" %s %.0f", w.Direction, w.IOPS)
		}
		return text
	}
	const want = "10s read 1000 write 1000"
	for n := 20; n < 23; n++ {
		for _, direction := range []string{"read", "write"} {
			if err := v.Add(second(n, direction, 80e3), Stage{}, start); err != nil {
				t.Fatal(err)
			}
			if got := rates(); !strings.HasPrefix(got, want) {
				t.Errorf("after the %s of second %d: %s, want %s", direction, n, got, want)
			}
		}
	}
	for n := 23; n < 25; n++ { // writes have ended
		if err := v.Add(second(n, "read", 80e3), Stage{}, start); err != nil {
			t.Fatal(err)
		}
	}
	if got := rates(); !strings.HasPrefix(got, "10s read 1000 write 800") {
		t.Errorf("after the end of writes: %s", got)
	}
}

// TestHalfSecond: the newest second is not in the table before all of its directions came.
func TestHalfSecond(t *testing.T) {
	v, size := view(t, 20), Size{Columns: 80, Lines: 9}
	now := start.Add(22 * time.Second)
	before, err := v.Lines(now, size)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Add(second(20, "read", 1e6), Stage{}, now); err != nil {
		t.Fatal(err)
	}
	after, err := v.Lines(now, size)
	if err != nil || strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Errorf("%v, before\n%s\nafter\n%s", err, strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}
