package shared_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/mapping"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// inHistory calls a test with an empty history, and a clock of its own that starts at a whole second.
func inHistory(t *testing.T, test func(t *testing.T, store history.Store)) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(t.Context(), path)
		check(t, err)
		defer store.Close()
		test(t, store)
	})
}

// remote is a history whose clock is ahead of this machine's, and whose answers take some time, in turn.
type remote struct {
	history.Store
	ahead time.Duration
	takes *[]time.Duration
}

func (r remote) Now(context.Context) (time.Time, error) {
	took := time.Duration(0)
	if r.takes != nil && len(*r.takes) > 0 {
		took, *r.takes = (*r.takes)[0], (*r.takes)[1:]
	}
	time.Sleep(took / 10) // most of it is the way back
	now := time.Now().Add(r.ahead)
	time.Sleep(took - took/10)
	return now.Truncate(time.Millisecond), nil
}

// newDoc returns the document of a fio that began at a time.
func newDoc(start time.Time) *mapping.Run {
	return &mapping.Run{
		IntervalMS: 1000, Run: mapping.RunInfo{ID: "x", Ingest: "x", Start: start, End: start.Add(time.Minute)},
		Hosts: []mapping.RunHost{{Start: start}},
	}
}

// TestClock: hosts with wrong clocks send windows of the same seconds, and are neither called silent nor awake for their clocks.
func TestClock(t *testing.T) {
	tests := []struct {
		name  string
		ahead time.Duration // of the history's clock
		takes []time.Duration
		most  time.Duration // that the measured offset may be off
		said  string
	}{
		{"right", 0, nil, time.Millisecond, ""},
		{"a little", 300 * time.Millisecond, nil, time.Millisecond, ""},
		{"behind", 10 * time.Second, nil, time.Millisecond, "its clock is 10s behind that of the history (± 1 ms)"},
		{"ahead", -time.Hour, nil, time.Millisecond, "its clock is 1h ahead of"},
		{"slow answers", 2700 * time.Millisecond, []time.Duration{900 * time.Millisecond, 40 * time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond, 80 * time.Millisecond},
			11 * time.Millisecond, "(± 11 ms)"},
	}
	inHistory(t, func(t *testing.T, store history.Store) {
		for _, tt := range tests {
			of := remote{store, tt.ahead, &tt.takes}
			m := shared.Member{Name: tt.name, Host: "a", Unit: "job"}
			to := shared.New(of, m, 1, newDoc(time.Now()))
			check(t, to.Join(t.Context()))
			if said := to.Clock(); !strings.Contains(said, tt.said) || tt.said == "" && said != "" {
				t.Errorf("%s: %q", tt.name, said)
			}
			began := time.Now() // by the clock of the host
			window := []*mapping.Interval{newWindow(to, "read")}
			to.Add(began, window)
			want := began.Add(tt.ahead)
			if got := window[0].Time; got.Sub(want).Abs() > 500*time.Millisecond+tt.most || got.Nanosecond() != 0 {
				t.Errorf("%s: its window is at %v, which began at %v", tt.name, got, want)
			}
			check(t, to.Send(t.Context(), newDoc(began), time.Now()))
			parts, now, err := shared.Parts(t.Context(), of, to.Run().ID)
			check(t, err)
			p := parts[0]
			for what, got := range map[string]time.Time{"seen": p.Seen, "start": p.Document.Run.Start, "start of the host": p.Document.Hosts[0].Start} {
				if off := got.Sub(want).Abs(); off > tt.most {
					t.Errorf("%s: %s is off by %v", tt.name, what, off)
				}
			}
			if off := (time.Duration(p.ClockMS)*time.Millisecond - tt.ahead).Abs(); off > time.Duration(p.ClockErrorMS)*time.Millisecond || p.ClockErrorMS > tt.most.Milliseconds() {
				t.Errorf("%s: offset %d ± %d ms", tt.name, p.ClockMS, p.ClockErrorMS)
			}
			run, err := shared.Merge(&mapping.Run{}, parts, now)
			check(t, err)
			if run.Hosts[0].ClockOffsetMS != p.ClockMS {
				t.Errorf("%s: the run has %+v", tt.name, run.Hosts)
			}
			if texts := shared.Silent(parts, now); len(texts) > 0 {
				t.Errorf("%s: %q", tt.name, texts)
			}
			time.Sleep(shared.SilentAfter)
			parts, now, err = shared.Parts(t.Context(), of, to.Run().ID)
			check(t, err)
			if texts := shared.Silent(parts, now); !slices.Equal(texts, []string{"a: nothing for 7s"}) {
				t.Errorf("%s: after 7 s: %q", tt.name, texts)
			}
			again := shared.New(remote{Store: store, ahead: tt.ahead + time.Minute}, m, 1, newDoc(began))
			check(t, again.Join(t.Context()))
			window = append(window, newWindow(again, "write"))
			if again.Add(began, window[1:]); !window[1].Time.Equal(window[0].Time) {
				t.Errorf("%s: a process that begins again has moved its window from %v to %v", tt.name, window[0].Time, window[1].Time)
			}
		}
	})
}

func newWindow(to *shared.Sender, direction string) *mapping.Interval {
	run := to.Run()
	return &mapping.Interval{
		Run: mapping.RunRef{ID: run.ID, Name: run.Name, Start: run.Start, Ingest: run.Ingest}, Level: mapping.Cluster,
		Time: time.Now(), Fio: mapping.FioRef{Direction: direction}, Window: mapping.Window{MS: 1000},
	}
}
