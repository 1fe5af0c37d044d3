package elastic_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// TestCheckPending: a replacement was interrupted after its run document. Dashboards leave the new version out. A
// repair removes the old version and shows the new one.
func TestCheckPending(t *testing.T) {
	f := newFake(t)
	s := flushed{f.store("fio")}
	docs := historytest.Intervals("a", "2", 10)
	err := errors.Join(
		s.Put(t.Context(), docs), s.Finish(t.Context(), historytest.NewRun("a", "2")), s.Put(t.Context(), historytest.Intervals("a", "1", 4)),
	)
	must(t, err)
	var body strings.Builder
	for _, d := range docs[:3] {
		d.Run.Pending = true
		body.WriteString(string(mapping.AppendAction(nil, "index", d.Index("fio", mapping.Years), d.ID())) + "\n" + string(d.AppendJSON(nil)) + "\n")
	}
	if _, err := f.call(t.Context(), http.MethodPost, "/_bulk", body.String()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.call(t.Context(), http.MethodPost, "/fio-latency.*/_refresh", ""); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{
		{"versions that are not current: an ingest or compact is storing it now, or was interrupted: if none is running, remove", "leave out 3 of its documents: an ingest or compact is storing it now, or was interrupted: if none is running, show them"},
		{"versions that are not current: an ingest or compact is storing it now, or was interrupted: removed: ", "leave out 3 of its documents: an ingest or compact is storing it now, or was interrupted: shown: "},
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

// TestCheckPeriods: storing a version again in indices of another period was interrupted. Readers see each document once. A repair
// leaves those indices that have all documents.
func TestCheckPeriods(t *testing.T) {
	for name, c := range map[string]struct {
		months  bool // is the other period
		pending map[mapping.Period]int
		want    mapping.Period
	}{
		"not all came":     {true, map[mapping.Period]int{mapping.Years: 0, mapping.Months: 4}, mapping.Years},
		"all came":         {true, map[mapping.Period]int{mapping.Years: 0, mapping.Months: 10}, mapping.Months},
		"some are deleted": {false, map[mapping.Period]int{mapping.Years: 10}, mapping.Years},
	} {
		f := newFake(t)
		s := flushed{f.store("fio")}
		docs := historytest.Intervals("a", "1", 10)
		must(t, errors.Join(s.Put(t.Context(), docs), s.Finish(t.Context(), historytest.NewRun("a", "1"))))
		var body strings.Builder
		add := func(p mapping.Period, docs []*mapping.Interval, isPending bool) {
			for _, d := range docs {
				d.Run.Pending = isPending
				body.WriteString(string(mapping.AppendAction(nil, "index", d.Index("fio", p), d.ID())) + "\n" + string(d.AppendJSON(nil)) + "\n")
			}
		}
		for p, n := range c.pending {
			add(p, docs[:n], true)
		}
		if !c.months {
			add(mapping.Months, docs[:3], false)
		}
		_, err := f.call(t.Context(), http.MethodPost, "/_bulk", body.String())
		must(t, err)
		_, err = f.call(t.Context(), http.MethodPost, "/fio-latency.*/_refresh", "")
		must(t, err)
		f.Months = c.months
		s = flushed{f.store("fio")}
		read := func() (n int) {
			for _, err := range s.Intervals(t.Context(), history.Selection{Runs: []string{docs[0].Run.ID}}) {
				must(t, err)
				n++
			}
			return n
		}
		if n := read(); n != len(docs) {
			t.Errorf("%s: %d documents are read", name, n)
		}
		for range 2 {
			_, err = history.Check(t.Context(), s, true, func(f history.Finding) { t.Log(name, f) })
			must(t, err)
		}
		for _, p := range []mapping.Period{mapping.Years, mapping.Months} {
			all := f.Documents(docs[0].Index("fio", p))
			if n := len(all); n != map[bool]int{true: len(docs)}[p == c.want] {
				t.Errorf("%s: %d documents in indices of %s", name, n, p)
			}
			for id, text := range all {
				if strings.Contains(string(text), `"pending"`) {
					t.Errorf("%s: %s is pending", name, id)
				}
			}
		}
		if n := read(); n != len(docs) {
			t.Errorf("%s: %d documents are read after the repair", name, n)
		}
	}
}

// TestCheckByHand: a person changed the labels of a run document. A check reports that its interval documents have
// others, and a repair says that it does not mend them.
func TestCheckByHand(t *testing.T) {
	f := newFake(t)
	s := flushed{f.store("fio")}
	err := errors.Join(s.Put(t.Context(), historytest.Intervals("a", "1", 10)), s.Put(t.Context(), historytest.Intervals("b", "1", 10)),
		s.Finish(t.Context(), historytest.NewRun("a", "1")), s.Finish(t.Context(), historytest.NewRun("b", "1")))
	must(t, err)
	run := historytest.NewRun("a", "1")
	run.Run.Labels, run.CBT.Mode = map[string]string{"release": "by hand"}, "trim"
	for _, c := range [][2]string{{"/_bulk", fmt.Sprintf("{\"index\":{\"_index\":\"fio-runs\",\"_id\":%q}}\n%s\n", run.ID(), run.AppendJSON(nil))}, {"/fio-runs/_refresh", ""}} {
		if _, err := f.call(t.Context(), http.MethodPost, c[0], c[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, repair := range []bool{false, true} {
		var got []string
		_, err := history.Check(t.Context(), s, repair, func(f history.Finding) { got = append(got, f.Run+": "+f.Problem) })
		want := run.Run.ID + ": 10 of its interval documents do not have its labels, and fio2es label"
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Fatalf("repair %v: %v, %q, want %q", repair, err, got, want)
		}
	}
	for got, err := range s.Runs(t.Context(), history.RunFilter{Light: true, Text: "by hand"}) {
		if diff := cmp.Diff(run.Light(), got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

// TestCheckDamagedInElasticsearch: unreadable interval documents are found, and storing the run again replaces them.
func TestCheckDamagedInElasticsearch(t *testing.T) {
	f := newFake(t)
	s := flushed{f.store("fio")}
	docs := historytest.Intervals("a", "1", 10)
	must(t, errors.Join(s.Put(t.Context(), docs), s.Finish(t.Context(), historytest.NewRun("a", "1"))))
	var body strings.Builder
	for _, d := range docs[3:5] {
		text := strings.Replace(string(d.AppendJSON(nil)), `"completed":`, `"completed":"many","was":`, 1)
		body.WriteString(string(mapping.AppendAction(nil, "index", d.Index("fio", mapping.Years), d.ID())) + "\n" + text + "\n")
	}
	if _, err := f.call(t.Context(), http.MethodPost, "/_bulk", body.String()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.call(t.Context(), http.MethodPost, "/fio-latency.*/_refresh", ""); err != nil {
		t.Fatal(err)
	}
	found := func() (got []string) {
		_, err := history.Check(t.Context(), s, false, func(f history.Finding) { got = append(got, f.Problem+": "+f.Remedy) })
		must(t, err)
		return got
	}
	if got := found(); len(got) != 1 || !strings.Contains(got[0], "cannot be read: ingest suite:results/a again with --force") {
		t.Errorf("%q", got)
	}
	s = flushed{f.store("fio")} // another ingest
	must(t, errors.Join(s.Put(t.Context(), docs), s.Finish(t.Context(), historytest.NewRun("a", "1"))))
	if got := found(); len(got) > 0 {
		t.Errorf("after the run was stored again: %q", got)
	}
}
