package elastic_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// TestCheckPending: a replacement was interrupted after its run's document. Dashboards leave
// the new version out; a repair removes the old one and shows the new one.
func TestCheckPending(t *testing.T) {
	f := newFake(t)
	s := flushed{f.store("fio")}
	docs := historytest.Intervals("a", "2", 10)
	err := errors.Join(
		s.Put(t.Context(), docs), s.Finish(t.Context(), historytest.NewRun("a", "2")), s.Put(t.Context(), historytest.Intervals("a", "1", 4)),
	)
	if err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	for _, d := range docs[:3] {
		text, err := mapping.MarkPending(d.AppendJSON(nil), 0)
		if err != nil {
			t.Fatal(err)
		}
		body.WriteString(string(mapping.AppendAction(nil, d.Index("fio"), d.ID())) + "\n" + string(text) + "\n")
	}
	if _, err := f.call(t.Context(), http.MethodPost, "/_bulk", body.String()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.call(t.Context(), http.MethodPost, "/fio-latency.*/_refresh", ""); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{
		{"versions that are not current: an ingest or compact was interrupted: remove", "leave out 3 of its documents: an ingest or compact was interrupted: show them"},
		{"versions that are not current: an ingest or compact was interrupted: removed: ", "leave out 3 of its documents: an ingest or compact was interrupted: shown: "},
		nil,
	} {
		var got []string
		_, err := history.Check(t.Context(), s, i > 0, func(f history.Finding) { got = append(got, f.Problem+": "+f.Remedy) })
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d: %v, %q", i, err, got)
		}
		for j := range want {
			if !strings.Contains(got[j], want[j]) {
				t.Errorf("%d: %q, want %q", i, got[j], want[j])
			}
		}
	}
}

// TestCheckDamagedInElasticsearch: a repair names and removes the interval documents that
// cannot be read, and no others.
func TestCheckDamagedInElasticsearch(t *testing.T) {
	f := newFake(t)
	s := flushed{f.store("fio")}
	docs := historytest.Intervals("a", "1", 10)
	if err := errors.Join(s.Put(t.Context(), docs), s.Finish(t.Context(), historytest.NewRun("a", "1"))); err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	for _, d := range docs[3:5] {
		text := strings.Replace(string(d.AppendJSON(nil)), `"completed":`, `"completed":"many","was":`, 1)
		body.WriteString(string(mapping.AppendAction(nil, d.Index("fio"), d.ID())) + "\n" + text + "\n")
	}
	if _, err := f.call(t.Context(), http.MethodPost, "/_bulk", body.String()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.call(t.Context(), http.MethodPost, "/fio-latency.*/_refresh", ""); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"cannot be read: remove them with --repair, then ingest suite:results/a again",
		"2 of its interval documents could not be read (", "documents are missing: 2 of 10 (cluster)",
	} {
		var got []string
		_, err := history.Check(t.Context(), s, i == 1, func(f history.Finding) { got = append(got, f.Problem+": "+f.Remedy) })
		if err != nil || len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%d: %v, %q, want %q", i, err, got, want)
		}
		for _, d := range docs[3:5] {
			if i == 1 && !strings.Contains(got[0], d.ID()) {
				t.Errorf("%q does not name %s", got, d.ID())
			}
		}
	}
	if err := s.Put(t.Context(), docs[3:5]); err != nil {
		t.Fatal(err)
	}
}
