package elastic_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/mapping"
)

// BenchmarkHosts has hosts join a run of the Elasticsearch that the environment names, within two seconds, and send windows of
// one second of 500 bins in two directions, every five seconds for a minute. It says how long joins and sends take, and how old the newest window
// is when it is stored. Run it with -benchtime 1x.
func BenchmarkHosts(b *testing.B) {
	for _, hosts := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			_, prefix := realServer(b, 1)
			for b.Loop() {
				s := newSending(b, prefix)
				for i := range hosts {
					s.hosts.Go(func() { s.host(fmt.Sprintf("host%04d", i), 2*time.Second*time.Duration(i)/time.Duration(hosts)) })
				}
				s.hosts.Wait()
				s.report()
			}
		})
	}
}

// sending is some hosts that send to a run.
type sending struct {
	*testing.B
	config  es.Config
	prefix  string
	began   time.Time
	hosts   sync.WaitGroup
	latency mapping.Latency

	mu                  sync.Mutex
	joins, sends, delay []time.Duration
}

func newSending(b *testing.B, prefix string) *sending {
	h := hist.New(hist.Fio3(0))
	for bin := range 500 {
		h.AddAt(700+bin, float64(1+bin*bin*31%9))
	}
	return &sending{B: b, config: estest.NewReal(b).Config, prefix: prefix, began: time.Now(), latency: mapping.NewLatency(h, nil)}
}

func (s *sending) host(name string, after time.Duration) {
	time.Sleep(after)
	client, err := es.New(s.config)
	if err != nil {
		s.Error(err)
		return
	}
	store := elastic.New(client, s.prefix)
	defer store.Close()
	began := time.Now()
	m := shared.Member{Name: fmt.Sprint("night ", s.began.UnixNano()), Host: name, Unit: "job"}
	doc := &mapping.Run{IntervalMS: 1000, Run: mapping.RunInfo{ID: "x", Ingest: "x", Start: s.began}}
	attempt, err := shared.Attempt(s.Context(), store, m, true)
	if err != nil {
		s.Error(err)
		return
	}
	to := shared.New(store, m, attempt, doc)
	if err := to.Join(s.Context()); err != nil {
		s.Error(err)
		return
	}
	s.add(&s.joins, time.Since(began))
	next := time.Now().Truncate(time.Second)
	for time.Since(s.began) < time.Minute {
		time.Sleep(shared.Beat)
		for ; time.Since(next) > 2*time.Second; next = next.Add(time.Second) {
			to.Add(next, s.window(to.Run(), next))
		}
		began := time.Now()
		if err := to.Send(s.Context(), doc, began); err != nil {
			s.Error(err)
			return
		}
		s.add(&s.sends, time.Since(began))
		s.add(&s.delay, time.Since(next))
	}
}

func (s *sending) window(run mapping.RunInfo, at time.Time) (docs []*mapping.Interval) {
	n := s.latency.Bins.Total()
	for _, direction := range []string{"read", "write"} {
		docs = append(docs, &mapping.Interval{
			Run:  mapping.RunRef{ID: run.ID, Name: run.Name, Start: run.Start, Ingest: run.Ingest},
			Time: at, Window: mapping.Window{End: at.Add(time.Second), MS: 1000}, Fio: mapping.FioRef{Direction: direction},
			Requests: mapping.Requests{Completed: n, Weight: float64(n)}, IOPS: float64(n), Latency: s.latency, DocCount: n,
		})
	}
	return docs
}

func (s *sending) add(to *[]time.Duration, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*to = append(*to, took)
}

func (s *sending) report() {
	for name, list := range map[string][]time.Duration{"join": s.joins, "send": s.sends, "delay": s.delay} {
		if slices.Sort(list); len(list) > 0 {
			s.ReportMetric(list[len(list)/2].Seconds(), name+"-p50-s")
			s.ReportMetric(list[len(list)*99/100].Seconds(), name+"-p99-s")
		}
	}
	s.ReportMetric(float64(10*len(s.sends))/time.Since(s.began).Seconds(), "docs/s")
}
