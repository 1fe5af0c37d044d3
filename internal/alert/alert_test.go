package alert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, texts ...string) (rules []slo.Rule) {
	for _, text := range texts {
		r, err := slo.Parse(text)
		check(t, err)
		rules = append(rules, r)
	}
	return rules
}

// second returns a window that ends now, of a run that has a name, in which 100 reads took this long.
func second(run string, latency time.Duration) *window.Window {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(latency.Nanoseconds(), 100)
	end := time.Now()
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return &window.Window{
		Run: &mapping.RunInfo{ID: run, Name: run, Archive: "a", Start: start}, Direction: "read", ElapsedMS: end.Sub(start).Milliseconds() - 1000,
		Completed: 100, Start: end.Add(-time.Second), End: end, Latency: mapping.NewLatency(h, nil),
	}
}

// alertmanager notes what is posted, one alert a line: when, until when, its labels and its page.
type alertmanager struct {
	t      *testing.T
	began  time.Time
	got    []string
	answer func() int
}

// RoundTrip implements [http.RoundTripper].
func (a *alertmanager) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || r.URL.String() != "http://am:9093/prefix/api/v2/alerts" || r.Header.Get("Content-Type") != "application/json" {
		a.t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	}
	var posted []struct {
		Labels, Annotations map[string]string
		StartsAt, EndsAt    time.Time
		GeneratorURL        string
	}
	check(a.t, json.NewDecoder(r.Body).Decode(&posted))
	since := func(at time.Time) string { return at.Sub(a.began).String() }
	for _, p := range posted {
		a.got = append(a.got, fmt.Sprintf("%s: %s to %s %s %s %s %s %s|%s", since(time.Now()), since(p.StartsAt), since(p.EndsAt), p.Labels["alertname"],
			p.Labels["rule"], p.Labels["direction"], p.Labels["run"], p.Labels["host"]+p.Labels["level"], p.Annotations["summary"]+p.GeneratorURL))
	}
	if code := a.answer(); code != 200 {
		return &http.Response{StatusCode: code, Status: fmt.Sprint(code, " Bad"), Body: io.NopCloser(strings.NewReader("why\x1b not"))}, nil
	}
	return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
}

// TestSender: an alert is posted when it fires, each minute while it lasts, and once when it is resolved.
func TestSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		am := &alertmanager{t: t, began: time.Now(), answer: func() int { return 200 }}
		s := NewSender(Options{
			Alertmanager: "http://am:9093/prefix", Log: slog.New(slog.NewTextHandler(&log, nil)), Transport: am,
			Link: func(run *mapping.RunInfo) string { return "http://page/" + run.ID },
		})
		w := s.Watch(parse(t, "max <= 10ms for 3s", "iops > 0 for 5s"), "h1", s.opt.Log)
		after := s.Watch(parse(t, "max <= 10ms in every window"), "", s.opt.Log)
		for n := 1; n <= 80; n++ { // slow from 10 to 75
			latency := time.Millisecond
			if n > 10 && n <= 75 {
				latency = 50 * time.Millisecond
			}
			time.Sleep(time.Second)
			check(t, w.Window(second("x", latency)))
		}
		check(t, after.Window(second("y", time.Minute)))
		time.Sleep(20 * time.Second) // nothing comes
		check(t, w.Window(second("next", time.Millisecond)))
		after.End(false)
		time.Sleep(time.Hour)
		w.End(true)
		s.Close()
		want := `13s: 10s to 4m13s ObjectiveBroken max <= 10ms for 3s read x h1|max <= 10ms for 3s: read max is 50.3ms in the window from 00:00:12 to 00:00:13http://page/x
1m0s: 10s to 5m0s ObjectiveBroken max <= 10ms for 3s read x h1|
1m16s: 10s to 1m16s ObjectiveBroken max <= 10ms for 3s read x h1|
1m20s: 1m19s to 5m20s ObjectiveBroken max <= 10ms in every window read y cluster|
1m26s: 1m20s to 5m26s ObjectiveBroken iops > 0 for 5s  x h1|iops > 0 for 5s: nothing is known to have completed since 00:01:20http://page/x
1m40s: 1m20s to 1m40s ObjectiveBroken iops > 0 for 5s  x h1|`
		for i, line := range strings.Split(want, "\n") {
			if i >= len(am.got) || !strings.HasPrefix(am.got[i], line) {
				t.Errorf("alert %d, want %s", i, line)
			}
		}
		if got := strings.Join(am.got, "\n"); len(am.got) != 6 || strings.Count(log.String(), "level=WARN") != 3 || strings.Count(log.String(), "is met again from 00:01:15 on") != 1 {
			t.Errorf("%s\n%s", got, &log)
		}
	})
}

// TestAway: an Alertmanager that refuses alerts gets them again, with one message.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		calls := 0
		am := &alertmanager{t: t, answer: func() int {
			if calls++; calls < 4 {
				return 500
			}
			return 200
		}}
		s := NewSender(Options{Alertmanager: "http://am:9093/prefix", Log: slog.New(slog.NewTextHandler(&log, nil)), Transport: am})
		w := s.Watch(parse(t, "max <= 10ms in every window"), "", slog.New(slog.DiscardHandler))
		check(t, w.Window(second("x", time.Second)))
		time.Sleep(5*time.Minute + time.Second)
		w.End(false)
		s.Close()
		text := log.String()
		if calls != 6 || strings.Count(text, "posted again each minute: it answered 500 Bad: why") != 1 || strings.Count(text, "takes alerts again") != 1 || strings.Contains(text, "\x1b") {
			t.Errorf("%d requests\n%s", calls, text)
		}
	})
}

// TestHangs: an Alertmanager that does not answer delays neither windows nor the end, and messages have no password.
func TestHangs(t *testing.T) {
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer server.Close()
	defer close(done)
	var log bytes.Buffer
	s := NewSender(Options{Alertmanager: strings.Replace(server.URL, "//", "//me:hunter22@", 1), Log: slog.New(slog.NewTextHandler(&log, nil))})
	w := s.Watch(parse(t, "max <= 10ms in every window"), "", slog.New(slog.DiscardHandler))
	began := time.Now()
	for range 2000 {
		check(t, w.Window(second("x", time.Second)))
		check(t, w.Window(second("x", time.Microsecond)))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("windows took %v", took)
	}
	began = time.Now()
	w.End(true)
	s.Close()
	if took := time.Since(began); took > lastPost+time.Second || took < lastPost/2 {
		t.Errorf("the end took %v", took)
	}
	if text := log.String(); strings.Contains(text, "hunter22") || !strings.Contains(text, "is not sent, because 1000 wait") || !strings.Contains(text, "context canceled") {
		t.Error(text[:min(len(text), 2000)])
	}
}

// TestProgram: the program is called once a change, with the alert, and says what is wrong with it.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	program, out := filepath.Join(dir, "page"), filepath.Join(dir, "out")
	check(t, os.WriteFile(program, []byte("#!/bin/sh\nset -e\necho $1 >> '"+out+"'\ncat >> '"+out+"'\necho so >&2\n[ $1 = fired ]\n"), 0o700))
	var log bytes.Buffer
	s := NewSender(Options{Exec: program, Log: slog.New(slog.NewTextHandler(&log, nil))})
	w := s.Watch(parse(t, "max <= 10ms in every window"), "h1", slog.New(slog.DiscardHandler))
	for _, latency := range []time.Duration{1, 50, 50, 1, 1} {
		check(t, w.Window(second("x", latency*time.Millisecond)))
	}
	w.End(true)
	s.Close()
	text, err := os.ReadFile(out)
	if errors.Is(err, os.ErrNotExist) && os.PathSeparator != '/' {
		t.Skip("no shell")
	}
	check(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 4 || lines[0] != "fired" || lines[2] != "resolved" || !strings.Contains(lines[1], `"host":"h1"`) || strings.Contains(lines[1], "endsAt") ||
		!strings.Contains(lines[3], "endsAt") {
		t.Errorf("%s", text)
	}
	if text := log.String(); strings.Count(text, "failed for an alert that has") != 1 || !strings.Contains(text, "resolved: exit status 1: so") {
		t.Error(text)
	}
}

// TestNowhere: without addressees nothing is sent.
func TestNowhere(t *testing.T) {
	s := NewSender(Options{})
	w := s.Watch(parse(t, "max <= 10ms in every window"), "", slog.New(slog.DiscardHandler))
	check(t, w.Window(second("x", time.Second)))
	w.End(true)
	if s.Close(); s != nil {
		t.Error("it would send")
	}
}
