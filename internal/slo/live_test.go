package slo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// TestFor: a rule with "for" is broken by windows that follow one another for that time. Windows without requests do not separate them.
func TestFor(t *testing.T) {
	for _, c := range []struct {
		rule, windows string // windows: + meets the rule, - breaks it, ? is in the last bin, and a space has no requests
		state         State
		value         time.Duration
	}{
		{"p99 <= 2ms for 3s", "++-+--+", Met, 2 * time.Second},
		{"p99 <= 2ms for 3s", "+---+", Broken, 3 * time.Second},
		{"p99 <= 2ms for 3s", "-- -", Broken, 4 * time.Second},
		{"max <= 20s for 2s", "+?+?+", Unknown, 0},
		{"max <= 20s for 3s", "+?+?+", Met, 0},
		{"iops >= 50 for 3s", "+--+++", Met, 2 * time.Second},
		{"iops >= 50 for 3s", "+   +", Broken, 3 * time.Second},
		{"iops > 0 for 5s", "+    -+", Met, 4 * time.Second},
	} {
		e := New(parse(t, c.rule))
		for at, what := range c.windows {
			n, ns := int64(100), int64(ms)
			switch what {
			case ' ':
				continue
			case '-':
				n, ns = 10, 5*ms
			case '?':
				ns = 60_000 * ms
			}
			e.add(second("read", int64(at), n, ns))
		}
		v := e.Verdicts()[0]
		if v.State != c.state || v.Value != float64(c.value) {
			t.Errorf("%s of %q: %s (%s), %v; want %s, %v", c.rule, c.windows, v.State, v.Why, time.Duration(v.Value), c.state, c.value)
		}
	}
	e := New(parse(t, "p99 <= 2ms for 3s"))
	for at := range int64(4) {
		e.add(second("read", at, 10, 5*ms))
	}
	v := e.Verdicts()[0]
	const want = "sla p99 <= 2ms for 3s: x: read p99: met for 0.00s of 4.00s; first broken at +0s, longest from +0s for 4.00s, worst at +0s: 5.04ms"
	if got := v.Message(&mapping.RunInfo{Name: "x"}); got != want || v.ValueText() != "4.00s" || v.Rule.Target() != "< 3s" {
		t.Errorf("%s\n%s %s", got, v.ValueText(), v.Rule.Target())
	}
}

// TestLive: when the rules of a live run begin to be broken and when they are met again, from windows and from the time.
func TestLive(t *testing.T) {
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	of := func(direction string, at, n, ns int64) *window.Window {
		return &window.Window{
			Run: &mapping.RunInfo{Start: start}, Direction: direction, ElapsedMS: at * 1000, Completed: n,
			Start: start.Add(time.Duration(at) * time.Second), End: start.Add(time.Duration(at+1) * time.Second),
			Latency: mapping.NewLatency(of(map[int64]float64{ns: float64(n)}), nil),
		}
	}
	for _, c := range []struct {
		rule, reads, writes string // as in TestFor; . is time in which no window comes, and , and _ are short ones of few requests
		planned             int64  // s, when fio expects to end; 0: unknown
		want                string
	}{
		{"p99 <= 2ms", "+-++", "", 0, "2 fired: so far, read p99: 5.04ms"},
		{"p90 <= 2ms", "+++++++++-+", "", 0, ""},
		{"p99 <= 2ms in every window", "+-++", "", 0, "2 fired: read p99 is 5.04ms in the window from 09:00:01 to 09:00:02|3 resolved"},
		{"p99 <= 2ms in 70% of windows", "++-+", "", 0, "3 fired: so far, read p99: met for 66.7 % of 3.00s; first broken at 2026-01-31 09:00:02.000, longest from 09:00:02.000 for 1.00s, worst at 09:00:02.000: 5.04ms|4 resolved"},
		{"p99 <= 2ms for 3s", "--+---+", "", 0, "6 fired: read p99 is 5.04ms in the window from 09:00:05 to 09:00:06|7 resolved"},
		{"p99 <= 2ms for 3s", "--", "---", 0, "3 fired: write p99 is 5.04ms in the window from 09:00:02 to 09:00:03"},
		{"write.p99 <= 2ms in every window", "--", "++", 0, ""},
		{"iops >= 50 in every window", "+-+", "", 0, "2 fired: read iops is 10 in the window from 09:00:01 to 09:00:02|3 resolved"},
		{"iops >= 50 in every window", "++,", "", 0, "3 fired: read iops is 25 in the window from 09:00:02 to 09:00:02"},
		{"iops >= 50 in every window", "++_", "", 0, ""}, // too short for a rate
		{"requests >= 1e6", "++", "", 0, ""},
		{"requests <= 150", "++", "", 0, "2 fired: so far, read requests: 200"},
		// The next window should come a second after the last one.
		{"iops > 0 for 3s", "+++.....++", "", 0, "7 fired: nothing is known to have completed since 09:00:03|9 resolved"},
		{"iops > 0 for 3s", "++.....++", "+++++++++", 0, ""},
		{"read.iops > 0 for 3s", "+++.....++", "+++++++++", 0, "7 fired: no read is known to have completed since 09:00:03|9 resolved"},
		{"iops > 0 for 3s", "+++.....++", "", 7, "7 fired: nothing is known to have completed since 09:00:03|9 resolved"},
		{"iops > 0 for 3s", "+++......", "", 5, ""}, // it may have ended
		{"iops >= 0 for 3s", "++.....++", "", 0, ""},
		{"iops > 0 for 3s", "", "", 0, ""},
		{"trim.p99 <= 1ms", "--", "", 0, ""},
	} {
		l, got := NewLive(parse(t, c.rule)), []string{}
		note := func(at int, changed []Alert) {
			for _, a := range changed {
				text := " resolved"
				if a.Active {
					text = " fired: " + a.Text
				}
				got = append(got, fmt.Sprint(at, text))
			}
		}
		for at := range max(len(c.reads), len(c.writes)) {
			now := start.Add(time.Duration(at+1) * time.Second)
			for direction, windows := range map[string]string{"read": c.reads, "write": c.writes} {
				if at >= len(windows) || windows[at] == '.' {
					continue
				}
				n, ns := int64(100), int64(ms)
				if windows[at] == '-' {
					n, ns = 10, 5*ms
				}
				w := of(direction, int64(at), n, ns)
				if i := strings.IndexByte(",_", windows[at]); i >= 0 {
					w.Completed, w.End = 10-9*int64(i), w.Start.Add([]time.Duration{400, 90}[i]*time.Millisecond)
				}
				if c.planned > 0 {
					w.Planned = start.Add(time.Duration(c.planned) * time.Second)
				}
				changed, err := l.Add(w, now)
				if err != nil {
					t.Fatal(err)
				}
				note(at+1, changed)
			}
			note(at+1, l.Tick(now))
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s of %q and %q:\n%s, want\n%s", c.rule, c.reads, c.writes, text, c.want)
		}
		active := 0
		for _, a := range l.Alerts() {
			if a.Active {
				active++
			}
		}
		if ended := l.End(); len(ended) != active || len(l.End()) != 0 {
			t.Errorf("%s of %q: %d alerts end with the run, want %d", c.rule, c.reads, len(ended), active)
		}
	}
}
