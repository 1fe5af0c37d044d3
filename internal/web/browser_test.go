package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// JavaScript expressions on the page of a run.
const (
	drawnWindows = "JSON.parse(document.querySelector('script.data').textContent).panels[0].rows.length"
	isLive       = "document.getElementById('live') !== null"
	isAtDetails  = "Math.abs(document.querySelector('details').getBoundingClientRect().y - 300) < 2"
	readOut      = "document.querySelectorAll('.readout:not([hidden])').length"
)

// TestBrowser: open pages show what the history gets, without being reloaded.
func TestBrowser(t *testing.T) {
	b := startChromium(t)
	store := historyOf(t, runOf(0, "first", 100))
	grow(t, store, 3)
	address, restart := serveAt(t, store)

	growing := runOf(1, "growing", 100)
	page := b.open(address + "runs/" + growing.Run.ID)
	page.is("3", drawnWindows)
	b.open(address + "runs/" + growing.Run.ID).charts()
	page.stays("true", "document.querySelector('.banner').innerText.includes('live')")
	page.value("window.loaded = 1; document.querySelector('details').open = true; scrollTo(0, document.querySelector('details').offsetTop - 300)")
	check := func(what, windows string) {
		t.Helper()
		page.is(windows, drawnWindows)
		if page.value(isAtDetails) != "true" {
			t.Errorf("%s: the reader's place is another", what)
		}
		page.stays("1", "window.loaded")
		page.stays("true", "document.querySelector('details').open")
	}
	list := b.open(address)
	const rows, box = "document.querySelectorAll('tbody tr').length", "document.querySelector('input[value=\"%\"]')"
	first, grown := strings.ReplaceAll(box, "%", runOf(0, "first", 100).Run.ID), strings.ReplaceAll(box, "%", runOf(1, "growing", 100).Run.ID)
	requests := grown + ".closest('tr').querySelector('[data-title=Requests]').textContent"
	state := grown + ".closest('tr').querySelector('.state')?.textContent ?? ''"
	list.is("2", rows)
	list.is("live", state)
	list.is("3,000", requests)
	list.value("window.loaded = 1; " + first + ".checked = true; document.querySelector('input[name=text]').value = 'nvme'; document.querySelector('input[name=text]').focus()")
	checkList := func() {
		t.Helper()
		list.stays("true false", first+".checked + ' ' + "+grown+".checked")
		list.stays("nvme text", "document.activeElement.value + ' ' + document.activeElement.name")
		list.stays("1", "window.loaded")
	}

	grow(t, store, 5)
	check("windows", "5")
	list.is("5,000", requests)
	checkList()

	page.value(pointer("pointermove", 0.5)) // a pointer's values stay
	page.stays("1", readOut)
	grow(t, store, 6)
	list.is("6,000", requests)
	page.stays("1", readOut)
	page.stays("5", drawnWindows)
	page.value(pointer("pointerleave", 0.5))
	check("after the pointer has left", "6")

	restart(func() {
		grow(t, store, 8)
		must(t, store.Finish(t.Context(), runOf(2, "third", 100)))
	})
	check("another server", "8")
	list.is("3", rows)
	checkList()

	over := growingRun(8)
	over.Run.Ingest, over.Run.Complete = "0123456789abcdef", true
	finish(t, store, over, 8)
	page.is("false", isLive)
	check("the end", "8")
	page.stays("0", "document.querySelectorAll('.banner').length")
	list.is("", state)
	checkList()
	list.stays("true", isLive)
}

// charts checks that the charts of the growing run have the width of any screen, show a part of the time, and times in another
// zone, on a page of its own.
func (p *tab) charts() {
	p.b.t.Helper()
	for _, c := range []struct {
		method     string
		parameters map[string]any
	}{
		{"Emulation.setDeviceMetricsOverride", map[string]any{"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": true}},
		{"Emulation.setTimezoneOverride", map[string]any{"timezoneId": "Asia/Kolkata"}},
		{"Page.reload", nil},
	} {
		var none struct{}
		must(p.b.t, p.b.do(p.session, c.method, c.parameters, &none))
	}
	const widths = "[...document.querySelectorAll('svg.fit')].map(s => s.viewBox.baseVal.width + ' ' + s.clientWidth).join() + ', ' + (document.documentElement.scrollWidth - innerWidth)"
	const ticks, lead = "[...document.querySelectorAll('.over-time [data-below]')].map(e => e.textContent).join()", "document.querySelector('.title').textContent"
	p.is("360 360,360 360,360 360, 0", widths)
	p.is("UTC, 2026-11-2103:14:0203:14:0303:14:0403:14:05,UTC, 2026-11-2103:14:0203:14:0303:14:0403:14:05", ticks)
	p.value(pointer("pointerdown", 0.25) + ";" + pointer("pointermove", 0.5) + ";" + pointer("pointerup", 0.5))
	p.stays("UTC, 2026-11-2103:14:02.50003:14:03.000,UTC, 2026-11-2103:14:02.50003:14:03.000", ticks)
	p.value("document.querySelector('button.all').click()")
	p.value("document.querySelector('button.zone').click()")
	p.stays("archive · 2026-11-21 08:44:02 to 08:44:05 Asia/Calcutta · 3.00s · 2 hosts · 8 jobs", lead)
	p.stays("Asia/Calcutta, 2026-11-2108:44:0208:44:0308:44:0408:44:05,Asia/Calcutta, 2026-11-2108:44:0208:44:0308:44:0408:44:05", ticks)
	p.value("document.querySelector('button.zone').click()")
	p.stays("archive · 2026-11-21 03:14:02 to 03:14:05 UTC · 3.00s · 2 hosts · 8 jobs", lead)
}

// pointer returns an expression of an event of the pointer over a chart, at a share of its width.
func pointer(event string, share float64) string {
	return `(() => {
		const svg = document.querySelector('.over-time svg.fit'), box = svg.getBoundingClientRect();
		svg.dispatchEvent(new PointerEvent("` + event + `", {clientX: box.x + box.width * ` + fmt.Sprint(share) + `, clientY: box.y, button: 0}));
	})()`
}

func growingRun(windows int) *mapping.Run {
	run := runOf(1, "growing", 100)
	run.Run.End = run.Run.Start.Add(time.Duration(windows) * time.Second)
	run.Run.Ingest, run.Run.Complete = mapping.LiveIngest(began), false
	run.IntervalMS, run.Levels = 1000, []mapping.Level{mapping.Cluster}
	run.Fio.Options = map[string]string{"rw": "randwrite", "bs": "4k"}
	run.All.Requests, run.Documents = int64(1000*windows), mapping.Documents{Cluster: windows}
	return run
}

func grow(t *testing.T, store history.Store, windows int) {
	finish(t, store, growingRun(windows), windows)
}

func finish(t *testing.T, store history.Store, run *mapping.Run, windows int) {
	t.Helper()
	var docs []*mapping.Interval
	for n := range windows {
		elapsed := time.Duration(n) * time.Second
		docs = append(docs, &mapping.Interval{
			Time: run.Run.Start.Add(elapsed), Level: mapping.Cluster,
			Window: mapping.Window{End: run.Run.Start.Add(elapsed + time.Second), MS: 1000, ElapsedMS: elapsed.Milliseconds()},
			Run:    mapping.RunRef{ID: run.Run.ID, Name: run.Run.Name, Archive: run.Run.Archive, Start: run.Run.Start, Ingest: run.Run.Ingest},
			CBT:    run.CBT, Fio: mapping.FioRef{Direction: "write"}, Latency: run.All.Latency,
			Requests: mapping.Requests{Completed: 1000, Weight: 1000}, IOPS: 1000, Weighting: "completion", DocCount: 1000,
		})
	}
	must(t, store.Put(t.Context(), docs))
	must(t, store.Finish(t.Context(), run))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serveAt serves a history at a fixed address until the test ends. restart stops the server, calls meanwhile, and
// starts another server. Between the two, the address closes all connections.
func serveAt(t *testing.T, store history.Store) (address string, restart func(meanwhile func())) {
	t.Helper()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	start := func() (l *pipes, stop func()) {
		ctx, cancel := context.WithCancel(context.Background())
		l, ended, log := newPipes(), make(chan error, 1), slog.New(slog.DiscardHandler)
		pages := New(Options{Store: store, Name: "history.db", Program: "fio2es test", Log: slog.New(slog.DiscardHandler), Local: true})
		go func() { ended <- Serve(ctx, l, pages, log) }()
		return l, func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	var current atomic.Pointer[pipes]
	l, stop := start()
	current.Store(l)
	go func() {
		for {
			c, err := front.Accept()
			if err != nil {
				return
			}
			to := current.Load()
			select {
			case to.dialed <- c:
			case <-to.closed:
				c.Close()
			}
		}
	}()
	t.Cleanup(func() {
		front.Close()
		stop()
	})
	return "http://" + front.Addr().String() + "/", func(meanwhile func()) {
		stop()
		meanwhile()
		l, stop = start()
		current.Store(l)
	}
}
