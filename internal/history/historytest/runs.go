package historytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

func testPrefix(t *testing.T, s history.Store) {
	for _, id := range []string{"abc", "abcd", "abce", "b%_", "bcd"} {
		run := NewRun("run "+id, "1")
		run.Run.ID = id
		finish(t, s, run)
	}
	for id, want := range map[string]string{"abc": "abc", "abcd": "abcd", "bc": "bcd", "b%": "b%_"} {
		run, err := s.Run(t.Context(), id)
		if err != nil || run.Run.ID != want {
			t.Errorf("run %q: %+v, %v", id, run, err)
		}
	}
	for id, want := range map[string]error{
		"ab": history.ErrAmbiguous, "b": history.ErrAmbiguous, "": history.ErrNotFound,
		"abcde": history.ErrNotFound, "%": history.ErrNotFound, "B": history.ErrNotFound, "_bc": history.ErrNotFound,
	} {
		if _, err := s.Run(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("run %q: %v instead of %v", id, err, want)
		}
	}
	_, err := s.Run(t.Context(), "ab")
	for _, id := range []string{"abc", "abcd", "abce"} {
		if !strings.Contains(fmt.Sprint(err), id) {
			t.Errorf("%v does not name %s", err, id)
		}
	}
}

func testFilter(t *testing.T, s history.Store) {
	for i, name := range []string{"oldest", "middle", "newest"} {
		run := NewRun(name, "1")
		run.Run.Start = Start.Add(time.Duration(i) * time.Hour)
		run.CBT.Mode = []string{"randread", "randwrite", "randread"}[i]
		run.Run.Labels["release"] = []string{"Reef", "squid", "squid"}[i]
		run.Run.Execution = []string{"e%a", "e%b", "e%b"}[i]
		finish(t, s, run)
	}
	hour := func(n int) time.Time { return Start.Add(time.Duration(n) * time.Hour) }
	lateStart := condition(t, "start >= "+hour(1).Format(time.RFC3339Nano))
	for _, c := range []struct {
		f    history.RunFilter
		want []string
	}{
		{history.RunFilter{}, []string{"newest", "middle", "oldest"}},
		{history.RunFilter{Limit: 2}, []string{"newest", "middle"}},
		{history.RunFilter{Where: mode("randread")}, []string{"newest", "oldest"}},
		{history.RunFilter{Where: mode("randread"), Limit: 1}, []string{"newest"}},
		{history.RunFilter{Text: "MIDD"}, []string{"middle"}},
		{history.RunFilter{Text: "reef"}, []string{"oldest"}},
		{history.RunFilter{Text: "randREAD 4k qd32"}, []string{"newest", "oldest"}},
		{history.RunFilter{Text: "randread qd3"}, nil},
		{history.RunFilter{Text: "suite:midd"}, []string{"middle"}},
		{history.RunFilter{Text: ID("newest")[:8]}, []string{"newest"}},
		{history.RunFilter{Text: "results/old"}, []string{"oldest"}},
		{history.RunFilter{From: hour(1)}, []string{"newest", "middle"}},
		{history.RunFilter{Execution: "e%b"}, []string{"newest", "middle"}},
		{history.RunFilter{Execution: "e%", Limit: 2, Light: true}, []string{"newest", "middle"}},
		{history.RunFilter{Execution: "e%a", Where: mode("randread")}, []string{"oldest"}},
		{history.RunFilter{Execution: "e%b", To: hour(2)}, []string{"middle"}},
		{history.RunFilter{Execution: "%"}, nil},
		{history.RunFilter{To: hour(1)}, []string{"oldest"}},
		{history.RunFilter{From: hour(1), To: hour(2), Light: true}, []string{"middle"}},
		{history.RunFilter{Where: lateStart, Light: true}, []string{"newest", "middle"}},
		{history.RunFilter{Where: lateStart, From: hour(2), To: hour(3)}, []string{"newest"}},
	} {
		got := names(collect(t, s.Runs(t.Context(), c.f)))
		equal(t, c.want, got, "%+v", c.f)
	}
	var undecided []string
	f := history.RunFilter{Where: unsure{mode("randread")}, Text: "suite", Limit: 2, Undecided: func(run *mapping.Run) {
		undecided = append(undecided, run.Run.Name)
	}}
	collect(t, s.Runs(t.Context(), f))
	f.Text = "no run"
	collect(t, s.Runs(t.Context(), f))
	if want := []string{"middle"}; !cmp.Equal(undecided, want) {
		t.Errorf("undecided %v, want %v", undecided, want)
	}
}

// testWorkloads: runs of a workload are found, also by a section, and if their documents are of another version of the rule or have no
// workload.
func testWorkloads(t *testing.T, s history.Store) {
	for i, id := range []string{"2-a", "2-b", "1-a", "", "3-a", "2-c", "2-a", "2-d"} {
		run := NewRun(fmt.Sprint("run", i), "1")
		run.Run.Start, run.Workload = Start.Add(time.Duration(i)*time.Hour), mapping.Workload{ID: id}
		if id == "2-c" {
			run.Sections = []mapping.RunSection{{Name: "x", Workload: mapping.Workload{ID: "2-a"}}, {Name: "y", Workload: mapping.Workload{ID: "2-x"}}}
		}
		if id == "2-d" { // of an earlier fio2es
			run.Sections = []mapping.RunSection{{Name: "x"}, {Name: "y"}}
		}
		finish(t, s, run)
	}
	isOf := func(r *mapping.Run, ids ...string) bool {
		return !strings.HasPrefix(r.Workload.ID, "2-") || slices.Contains(ids, r.Workload.ID) ||
			slices.ContainsFunc(r.Sections, func(s mapping.RunSection) bool { return s.Workload.ID == "" || slices.Contains(ids, s.Workload.ID) })
	}
	for _, c := range []struct {
		ids  []string
		f    history.RunFilter
		want []string
	}{
		{[]string{"2-a"}, history.RunFilter{}, []string{"run7", "run6", "run5", "run4", "run3", "run2", "run0"}},
		{[]string{"2-a"}, history.RunFilter{Light: true, Limit: 2}, []string{"run7", "run6"}},
		{[]string{"2-b", "2-x"}, history.RunFilter{Light: true}, []string{"run7", "run5", "run4", "run3", "run2", "run1"}},
		{[]string{"2-none"}, history.RunFilter{To: Start.Add(4 * time.Hour)}, []string{"run3", "run2"}},
	} {
		c.f.Where = where.OfWorkloads("", c.ids, func(r *mapping.Run) bool { return isOf(r, c.ids...) })
		equal(t, c.want, names(collect(t, s.Runs(t.Context(), c.f))), "%v %+v", c.ids, c.f)
	}
}

// testInAnyOrder: runs in any order have the needed members of their documents, and those that a condition needs. Some are found by
// their ids.
func testInAnyOrder(t *testing.T, s history.Store) {
	for i, id := range []string{"2-a", "2-b", "1-a", "", "2-a"} {
		run := NewRun(fmt.Sprint("run", i), "1")
		run.Run.Start, run.Workload = Start.Add(time.Duration(i)*time.Hour), mapping.Workload{ID: id}
		if i == 4 {
			run.CBT.Mode = "randread"
		}
		finish(t, s, run)
	}
	f := history.RunFilter{InAnyOrder: true, Light: true, Members: []string{"workload", "fio"}}
	all := collect(t, s.Runs(t.Context(), history.RunFilter{}))
	some := []string{all[0].Run.ID, all[3].Run.ID, "none"}
	equal(t, []string{"run4", "run1"}, names(collect(t, s.Runs(t.Context(), history.RunFilter{IDs: some}))), "by ids")
	for _, c := range []struct {
		where history.Condition
		ids   []string
		want  []string
	}{
		{nil, nil, []string{"run0", "run1", "run2", "run3", "run4"}},
		{condition(t, "mode=randwrite"), nil, []string{"run0", "run1", "run2", "run3"}},
		{unsure{condition(t, "mode=randread")}, nil, []string{"run4"}},
		{condition(t, "mode=randwrite"), some, []string{"run1"}},
	} {
		var undecided []string
		f.Where, f.IDs, f.Undecided = c.where, c.ids, func(run *mapping.Run) { undecided = append(undecided, run.Run.Name) }
		got := collect(t, s.Runs(t.Context(), f))
		equal(t, c.want, slices.Sorted(slices.Values(names(got))), "%v %v", c.where, c.ids)
		for _, run := range got {
			if whole, err := s.Run(t.Context(), run.Run.ID); err != nil || !cmp.Equal(run.Fio, whole.Fio) || run.Workload != whole.Workload || !cmp.Equal(run.Run, whole.Run) {
				t.Errorf("%s lacks members: %+v, %v", run.Run.Name, run, err)
			}
		}
		if _, isUnsure := c.where.(unsure); isUnsure != (len(undecided) == 4) {
			t.Errorf("undecided: %v", undecided)
		}
	}
}

// testWanted: runs that are not wanted may be missing, and no others.
func testWanted(t *testing.T, s history.Store) {
	for i, name := range []string{"a", "b", "c", "d"} {
		run := NewRun(name, "1")
		if run.Run.Start = Start.Add(time.Duration(i) * time.Hour); name == "b" {
			run.CBT.Mode = "randread"
		}
		finish(t, s, run)
	}
	asked := make(chan string, 10)
	got := collect(t, s.Runs(t.Context(), history.RunFilter{
		Light: true, Where: condition(t, "mode=randwrite"), Text: NewRun("x", "1").Run.Archive, WantedMembers: []string{"cbt"},
		Wanted: func(run *mapping.Run) bool { asked <- run.Run.Name; return run.Run.Name != "c" },
	}))
	close(asked)
	for name := range asked {
		if name == "b" {
			t.Error("Wanted was called with a run that is not selected")
		}
	}
	equal(t, []string{"d", "a"}, names(slices.DeleteFunc(got, func(run *mapping.Run) bool { return run.Run.Name == "c" })), "wanted")
}

// unsure is a condition that other runs may meet, too.
type unsure struct{ *where.Condition }

// Undecided implements [history.Condition].
func (unsure) Undecided(*mapping.Run) bool { return true }

// Tests implements [history.Condition].
func (unsure) Tests() [][]mapping.FieldTest { return nil }

func testLight(t *testing.T, s history.Store) {
	run := NewRun("a", "1")
	finish(t, s, run)
	for _, c := range []struct {
		f    history.RunFilter
		want *mapping.Run
	}{
		{history.RunFilter{}, run},
		{history.RunFilter{Light: true}, run.Light()},
	} {
		got := collect(t, s.Runs(t.Context(), c.f))
		equal(t, []*mapping.Run{c.want}, got, "%+v", c.f)
	}
	run.Run.Start = Start.Add(time.Hour)
	finish(t, s, run)
	if got := collect(t, s.Runs(t.Context(), history.RunFilter{Light: true})); len(got) != 1 || !got[0].Run.Start.Equal(run.Run.Start) {
		t.Errorf("a run whose other version started later: %v", names(got))
	}
	if err := s.Delete(t.Context(), run.Run.ID); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, s.Runs(t.Context(), history.RunFilter{Light: true})); len(got) != 0 {
		t.Errorf("after the removal: %v", names(got))
	}
}

// testLive: a live run is found even if many newer runs exist.
func testLive(t *testing.T, s history.Store) {
	const newer = 20
	for i := range newer {
		run := NewRun(fmt.Sprint("run", i), "1")
		run.Run.Start = Start.Add(time.Duration(i) * time.Minute)
		finish(t, s, run)
	}
	expectLive := func(f history.RunFilter, want ...string) {
		t.Helper()
		f.Where = condition(t, "live")
		if got := names(collect(t, s.Runs(t.Context(), f))); !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
	expectLive(history.RunFilter{Limit: 1})
	for i, name := range []string{"oldest", "old"} {
		run := NewRun(name, mapping.LiveIngest(Start))
		run.Run.Start = Start.Add(time.Duration(i-2) * time.Hour)
		finish(t, s, run)
	}
	for _, f := range []history.RunFilter{{}, {Light: true}} {
		expectLive(f, "old", "oldest")
		f.Limit = 1
		expectLive(f, "old")
		f.To = Start.Add(-90 * time.Minute)
		expectLive(f, "oldest")
	}
	over := NewRun("old", "1")
	over.Run.Start = Start.Add(-time.Hour)
	finish(t, s, over)
	expectLive(history.RunFilter{Light: true}, "oldest")
}

// condition returns the condition that a text is. Some members of documents decide it.
func condition(t *testing.T, text string) *where.Condition {
	t.Helper()
	c, err := where.Parse(text, Start)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mode returns a condition that may need all of a document.
func mode(name string) *where.Condition {
	return where.That("mode", func(r *mapping.Run) bool { return r.CBT.Mode == name })
}
