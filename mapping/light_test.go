package mapping_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/mapping"
)

// TestLightOfDocument: what lists read of a run is what its document has: a check compares them.
func TestLightOfDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := genRun(t)
		section := func() *mapping.Totals {
			total := *run.Trim
			total.Latency.P9999 = 0 // percentiles are not known
			return &total
		}
		run.Sections = []mapping.RunSection{{Name: "a", Write: section()}, {Name: "b", Options: genMap(t, "options of b"), Sync: new(mapping.Totals)}}
		run.Read = &mapping.Totals{Latency: mapping.Latency{Mean: genSize(t, "mean of averages")}}
		run.Hosts[0].Write = &mapping.HostTotals{Requests: 1}
		document, light := new(mapping.Run), new(mapping.Run)
		if err := json.Unmarshal(run.AppendJSON(nil), document); err != nil {
			t.Fatal(err)
		}
		if err := light.UnmarshalLight(run.AppendLight([]byte("before"))[len("before"):], mapping.AllMembers); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(document.Light(), light); diff != "" {
			t.Errorf("(-document +light)\n%s", diff)
		}
		if again := document.AppendLight(nil); string(again) != string(run.AppendLight(nil)) {
			t.Error("a document that was read has another form")
		}
	})
}

// TestLightStays: a stored run is read in later versions, too, so numbers of members stay as they are. A member that a version does not
// know is skipped.
func TestLightStays(t *testing.T) {
	name := filepath.Join("testdata", "light.bin")
	run := sampleRun()
	golden.File(t, name, string(run.AppendLight(nil)))
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	later := append(b, 0xfc, 0x3f, 1, 0xfd, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0x3f, 1, 'x') // an integer, a number and a text of number 2047
	got := new(mapping.Run)
	if err := got.UnmarshalLight(later, mapping.AllMembers); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run.Light(), got); diff != "" {
		t.Error(diff)
	}
}

// TestMembers: only the wanted members are decoded.
func TestMembers(t *testing.T) {
	run, got := sampleRun(), new(mapping.Run)
	if err := got.UnmarshalLight(run.AppendLight(nil), mapping.MembersOf("run", "cbt", "write", "fio2es")); err != nil {
		t.Fatal(err)
	}
	want := &mapping.Run{Run: run.Run, CBT: run.CBT, Write: run.Light().Write, Program: run.Program}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	defer func() {
		if recover() == nil {
			t.Error("a member of something else")
		}
	}()
	mapping.MembersOf("id")
}

func TestLightFaults(t *testing.T) {
	whole := sampleRun().AppendLight(nil)
	for _, b := range [][]byte{nil, []byte("{}"), {2}, whole[:len(whole)-1]} {
		if err := new(mapping.Run).UnmarshalLight(b, mapping.AllMembers); err == nil {
			t.Errorf("%q: no error", b)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 { // anything but a panic
		b := append([]byte(nil), whole...)
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		_ = new(mapping.Run).UnmarshalLight(b, mapping.AllMembers)
	}
}

func BenchmarkLight(b *testing.B) {
	blob := sampleRun().AppendLight(nil)
	b.ReportMetric(float64(len(blob)), "B/run")
	b.ReportAllocs()
	for b.Loop() {
		if err := new(mapping.Run).UnmarshalLight(blob, mapping.AllMembers); err != nil {
			b.Fatal(err)
		}
	}
}
