package heatmap

import (
	"strings"
	"testing"
	"time"
)

// small returns a map with a gap, two neighbouring bands and a slow request.
func small() *Map {
	return mapOf(100,
		windowAt(0, 0, 1000, 50, 100), windowAt(0, 0, 1000, 52, 8), windowAt(1000, 1000, 2000, 50, 1000), windowAt(1000, 1000, 2000, 900, 1),
		windowAt(4000, 4000, 5000, 70, 30))
}

// undated is small, some time after the start of a run whose date is not known.
func undated(after time.Duration) *Map {
	m := small()
	shifted := func(t time.Time) time.Time { return time.Time{}.Add(after + t.Sub(began)) }
	m.Origin = shifted(m.Origin)
	for i := range m.Columns {
		m.Columns[i].Start, m.Columns[i].End = shifted(m.Columns[i].Start), shifted(m.Columns[i].End)
	}
	return m
}

// escapes makes colours readable: <221█> is a block in colour 221.
var escapes = strings.NewReplacer("\x1b[38;5;", "<", ";48;5;", " on ", "m▀", "▀", "m▄", "▄", "m█", "█", "\x1b[0m", ">")

func TestText(t *testing.T) {
	for _, c := range []struct {
		name string
		m    *Map
		how  Text
		want string
	}{
		{"shades, two characters a column", small(), Text{Columns: 10, Lines: 8}, `
LATENCY                    REQUESTS
  631µs    ░░                     1
  398µs                           0
  251µs                           0
  158µs                           0
  100µs                           0
 63.1µs          ▒▒              30
 39.8µs  ▓▓██                 1,108
               ╵03:13:05
         cells of 1s by 1/5 of a power of ten
         ░ 1 ▒ 4 ▓ 32 █ 317 or more requests
`},
		{"few lines, no date", undated(time.Minute), Text{Columns: 5, Lines: 3}, `
LATENCY               REQUESTS
  316µs   ░                  1
  100µs                      0
 31.6µs  ▓█  ▒           1,138
         ╵60s
         cells of 1s by 1/2 of a power of ten
         ░ 1 ▒ 4 ▓ 32 █ 317 or more requests
`},
		{"no room for a round time", mapOf(10, windowAt(101, 101, 149, 7, 1)), Text{Columns: 5, Lines: 3}, `
LATENCY               REQUESTS
 6.31µs  █████               1
         ╵03:13:02.101
         cells of 48ms by 1/20 of a power of ten
         █ 1 or more requests
`},
		{"half blocks", small(), Text{Columns: 5, Lines: 4, Colour: true}, `
LATENCY               REQUESTS
  398µs   <25▀>                  1
  158µs                      0
 63.1µs      <169▄>              30
 25.1µs  <209▀><221▀>              1,108
            ╵03:13:05
         cells of 1s by 1/5 of a power of ten
         <25█> 1 <62█> 2 <98█> 5 <169█> 12 <203█> 32 <209█> 85 <214█> 228 <221█> 611 or more requests
`},
		{"two in a character", mapOf(5, windowAt(0, 0, 1000, 50, 1), windowAt(0, 0, 1000, 70, 9)), Text{Columns: 2, Lines: 1, Colour: true}, `
LATENCY            REQUESTS
 31.6µs  <221 on 25▀▀>              10
         ╵03:13:02
         cells of 1s by 1/4 of a power of ten
         <25█> 1 <98█> 2 <203█> 3 <209█> 5 <214█> 6 <221█> 8 or more requests
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			if err := c.m.WriteText(&b, c.how); err != nil {
				t.Fatal(err)
			}
			if got := "\n" + escapes.Replace(b.String()); got != c.want {
				t.Errorf("got%swant%s", got, c.want)
			}
		})
	}
}

// TestTimesBelow: labels that would cover others are left out.
func TestTimesBelow(t *testing.T) {
	origin := time.Date(2026, 1, 31, 23, 59, 55, 0, time.UTC)
	c := &canvas{Map: &Map{Origin: origin, Width: time.Second, Slots: 30}, how: Text{}, area: 30}
	if got, want := c.times(), "     ╵Feb 1 00:00:00     ╵00:00:20"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
