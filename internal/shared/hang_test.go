package shared_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// pair is two hosts that send to one run.
type pair struct {
	t     *testing.T
	store history.Store
	began time.Time
	hosts map[string]*shared.Sender
}

func newPair(t *testing.T, store history.Store) *pair {
	p := &pair{t, store, time.Now(), map[string]*shared.Sender{}}
	for _, host := range []string{"a", "b"} {
		p.hosts[host] = p.join(host)
	}
	return p
}

func (p *pair) join(host string) *shared.Sender {
	p.t.Helper()
	to := shared.New(p.store, shared.Member{Name: "night", Host: host, Unit: "job"}, 1, newDoc(p.began))
	err := to.Join(p.t.Context())
	check(p.t, err)
	return to
}

// windowOf is a window of a host, from a second on, of so many seconds and requests.
func (p *pair) windowOf(to *shared.Sender, from, seconds, requests int) (nominal time.Time, docs []*mapping.Interval) {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1e6, float64(requests))
	d := newWindow(to, "read")
	d.Time = p.began.Add(time.Duration(from) * time.Second)
	nominal = d.Time.Add(time.Duration(seconds-1) * time.Second) // a long window is at the last edge
	// fio's report after a hang comes some milliseconds late
	d.Window = mapping.Window{End: d.Time.Add(time.Duration(seconds)*time.Second + 30*time.Millisecond), MS: int64(seconds)*1000 + 30}
	d.Requests, d.Latency = mapping.Requests{Completed: int64(requests), Weight: float64(requests)}, mapping.NewLatency(h, nil)
	d.DocCount, d.IOPS = d.Latency.Bins.Total(), float64(requests)/(float64(d.Window.MS)/1000)
	return nominal, []*mapping.Interval{d}
}

func (p *pair) add(host string, from, seconds, requests int) {
	p.hosts[host].Add(p.windowOf(p.hosts[host], from, seconds, requests))
}

func (p *pair) send(hosts ...string) {
	p.t.Helper()
	for _, host := range hosts {
		check(p.t, p.hosts[host].Send(p.t.Context(), newDoc(p.began), time.Now()))
	}
}

// expect compares windows of a level, as from-to requests IOPS.
func (p *pair) expect(level mapping.Level, want ...string) {
	p.t.Helper()
	var got []string
	view := shared.Store{Store: p.store}
	for w, err := range window.Rejoin(view.Intervals(p.t.Context(), history.Selection{Runs: []string{p.hosts["a"].Run().ID}, Level: level})) {
		check(p.t, err)
		got = append(got, fmt.Sprintf("%s%v-%v %d %.4g", w.Host, w.Start.Sub(p.began).Seconds(), w.End.Sub(p.began).Seconds(), w.Completed, w.IOPS))
	}
	if !slices.Equal(got, want) {
		p.t.Errorf("level %s: %q, want %q", level, got, want)
	}
}

// TestHang: while fio hangs on a host, others are not waited for without end. Its long window is one of the cluster.
func TestHang(t *testing.T) {
	inHistory(t, func(t *testing.T, store history.Store) {
		p := newPair(t, store)
		for second := range 24 {
			p.add("a", second, 1, 10)
		}
		p.add("b", 0, 1, 5)
		p.add("b", 1, 1, 5)
		time.Sleep(10 * time.Second)
		p.send("a", "b")
		p.expect(mapping.Cluster, "0-1 15 15") // the window of second 1 may get other directions
		time.Sleep(15 * time.Second)
		p.send("a", "b")
		parts, now, err := shared.Parts(t.Context(), store, p.hosts["a"].Run().ID)
		check(t, err)
		if texts := shared.Silent(parts, now); !slices.Equal(texts, []string{"b: nothing completed for 24s"}) {
			t.Errorf("%q", texts)
		}
		var all []string
		for second := range 23 {
			n := 10
			if second < 2 {
				n = 15
			}
			all = append(all, fmt.Sprintf("%d-%d %d %d", second, second+1, n, n))
		}
		p.expect(mapping.Cluster, all...)
		p.add("b", 2, 20, 8) // a request took 20 s
		p.add("b", 22, 1, 5)
		p.add("b", 23, 1, 5)
		p.send("b")
		p.expect(mapping.Cluster, "0-1 15 15", "1-2 15 15", "2-22 208 10.4", "22-23 15 15")
		p.expect(mapping.Host, "a0-1 10 10", "b0-1 5 5", "a1-2 10 10", "b1-2 5 5", "a2-22 200 10", "b2-22 8 0.4", "a22-23 10 10", "b22-23 5 5")
	})
}

// TestHangBesideWindows: a long window begins where the one before ends, also if fio's reports come at any times and the first window of
// the host is a long one.
func TestHangBesideWindows(t *testing.T) {
	inHistory(t, func(t *testing.T, store history.Store) {
		p := newPair(t, store)
		for _, w := range []struct {
			from, to float64 // seconds
			nominal  int
		}{{0.4, 3.1, 2}, {3.1, 3.9, 3}, {3.9, 4.85, 4}, {4.85, 7.2, 6}, {7.2, 8, 7}} {
			nominal, docs := p.windowOf(p.hosts["b"], w.nominal, 1, 5)
			at := func(seconds float64) time.Time {
				return p.began.Add(time.Duration(seconds*1000) * time.Millisecond)
			}
			docs[0].Time, docs[0].Window.End = at(w.from), at(w.to)
			p.hosts["b"].Add(nominal, docs)
		}
		p.add("a", 0, 9, 0)
		p.send("a", "b")
		p.expect(mapping.Host, "b0-3 5 1.667", "b3-4 5 5", "b4-5 5 5", "b5-7 5 2.5")
	})
}

// TestEndEmpties: windows that were sent while fio ran, and that its whole report has not, do not count.
func TestEndEmpties(t *testing.T) {
	inHistory(t, func(t *testing.T, store history.Store) {
		p := newPair(t, shared.Store{Store: store}) // as fio2es opens it
		for second := range 4 {
			p.add("a", second, 1, 10)
			p.add("b", second, 1, 5)
		}
		p.send("a", "b")
		for _, host := range []string{"a", "b"} {
			to := p.join(host)
			for _, w := range [][3]int{{0, 1, 10}, {1, 2, 30}} {
				nominal, docs := p.windowOf(to, w[0], w[1], w[2])
				check(t, to.Put(t.Context(), nominal, docs))
			}
			check(t, to.End(t.Context(), newDoc(p.began), 0, time.Now()))
		}
		p.expect(mapping.Cluster, "0-1 20 20", "1-3 60 30")
		run, err := shared.Finish(t.Context(), store, store, p.hosts["a"].Run().ID, false)
		if check(t, err); run.Documents.Cluster != 2 || run.Documents.Host != 4 {
			t.Errorf("%+v", run.Documents)
		}
	})
}
