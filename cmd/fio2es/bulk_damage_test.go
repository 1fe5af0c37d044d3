package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/mapping"
)

var damageSpec = fiotest.ArchiveSpec{Runs: 3, Hosts: 2, Jobs: 2, Seconds: 9, Coarseness: 5, IOPS: 30, Seed: 5}

type archiveFiles map[string][]byte

func readArchive(t testing.TB, dir string) archiveFiles {
	t.Helper()
	files := archiveFiles{}
	check(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files[name], err = os.ReadFile(filepath.Join(dir, name))
		return err
	}))
	return files
}

func (f archiveFiles) write(t rapid.TB, dir string) {
	t.Helper()
	for name, data := range f {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (f archiveFiles) names(want func(name string) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f)), func(s string) bool { return !want(s) })
}

// damages are ways to damage a file. data is the content of the file, other that of another file.
var damages = map[string]func(data, other []byte, rng *rand.Rand) []byte{
	"empty": func(_, _ []byte, _ *rand.Rand) []byte { return []byte{} },
	"cut":   func(data, _ []byte, rng *rand.Rand) []byte { return data[:rng.IntN(len(data)+1)] },
	"cut at the end of a line": func(data, _ []byte, rng *rand.Rand) []byte {
		return data[:bytes.LastIndexByte(data[:rng.IntN(len(data)+1)], '\n')+1]
	},
	"without its beginning": func(data, _ []byte, rng *rand.Rand) []byte { return data[rng.IntN(len(data)+1):] },
	"zeros at the end": func(data, _ []byte, rng *rand.Rand) []byte {
		at := rng.IntN(len(data) + 1)
		return append(bytes.Clone(data[:at]), make([]byte, len(data)-at)...)
	},
	"a hole": func(data, _ []byte, rng *rand.Rand) []byte {
		data = bytes.Clone(data)
		from := rng.IntN(len(data) + 1)
		clear(data[from:min(from+4096, len(data))])
		return data
	},
	"noise": func(data, _ []byte, rng *rand.Rand) []byte {
		out := make([]byte, len(data))
		for i := range out {
			out[i] = byte(rng.Uint32())
		}
		return out
	},
	"some bytes": func(data, _ []byte, rng *rand.Rand) []byte {
		data = bytes.Clone(data)
		for range 1 + rng.IntN(5) {
			if len(data) > 0 {
				data[rng.IntN(len(data))] = " 0123456789,\n{}\":x"[rng.IntN(18)]
			}
		}
		return data
	},
	"a text":          func(_, _ []byte, _ *rand.Rand) []byte { return []byte("No space left on device\n") },
	"another file":    func(_, other []byte, _ *rand.Rand) []byte { return other },
	"twice":           func(data, _ []byte, _ *rand.Rand) []byte { return append(bytes.Clone(data), data...) },
	"a line is gone":  func(data, _ []byte, rng *rand.Rand) []byte { return withoutLine(data, rng) },
	"not there":       nil,
	"its host's":      nil, // removes all files of the host
	"its host's logs": nil,
}

func withoutLine(data []byte, rng *rand.Rand) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	i := rng.IntN(len(lines))
	return bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil)
}

func (f archiveFiles) damage(t *rapid.T) string {
	name := rapid.SampledFrom(f.names(func(string) bool { return true })).Draw(t, "file")
	how := rapid.SampledFrom(slices.Sorted(maps.Keys(damages))).Draw(t, "damage")
	if do := damages[how]; do != nil {
		other := rapid.SampledFrom(f.names(func(string) bool { return true })).Draw(t, "other")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		f[name] = do(f[name], f[other], rng)
		return fmt.Sprintf("%s: %s", name, how)
	}
	dir, host := path.Dir(name), path.Ext(name)
	if strings.HasSuffix(name, ".yaml") {
		host = "none"
	}
	for _, n := range f.names(func(string) bool { return true }) {
		of := path.Dir(n) == dir && (path.Ext(n) == host || strings.HasSuffix(n, ".log"+host))
		if n == name || of && how == "its host's" || of && how == "its host's logs" && strings.Contains(n, "_clat_hist.") {
			delete(f, n)
		}
	}
	return fmt.Sprintf("%s: %s is gone", name, how)
}

// output is what ingest made of an archive, by the path of the run.
type output map[string]*ingestedRun

type ingestedRun struct {
	lines     []string // all lines of the output
	doc       *mapping.Run
	completed int64 // requests in documents of level Cluster
}

func parseOutput(t rapid.TB, text string) output {
	t.Helper()
	out, byID := output{}, map[string]*ingestedRun{}
	of := func(id string) *ingestedRun {
		if byID[id] == nil {
			byID[id] = &ingestedRun{}
		}
		return byID[id]
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		var r *ingestedRun
		if strings.Contains(lines[i], "fio-runs") {
			doc := &mapping.Run{}
			if err := json.Unmarshal([]byte(lines[i+1]), doc); err != nil {
				t.Fatal(err)
			}
			r = of(doc.Run.ID)
			if r.doc != nil {
				t.Errorf("two documents of run %s", doc.Run.Path)
			}
			r.doc = doc
			out[doc.Run.Path] = r
		} else {
			var d struct { // only what is needed, because decoding everything takes longer than the rest of the test
				Level    mapping.Level
				Run      mapping.RunRef
				Requests mapping.Requests
			}
			if err := json.Unmarshal([]byte(lines[i+1]), &d); err != nil {
				t.Fatal(err)
			}
			r = of(d.Run.ID)
			if d.Level == mapping.Cluster {
				r.completed += d.Requests.Completed
			}
		}
		r.lines = append(r.lines, lines[i], lines[i+1])
	}
	if len(out) != len(byID) {
		t.Errorf("documents of %d runs, but %d runs", len(byID), len(out))
	}
	return out
}

// TestDamagedArchive damages files of a good archive. Other files must be ingested as before, and each run that lost
// something must say so. Documents and what is missing together must have the requests that fio counted.
func TestDamagedArchive(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lab")
	generated(t, damageSpec, dir)
	whole := readArchive(t, dir)
	c := call(t, nil, "ingest", allLevels, "--output", "-", dir)
	if c.code != 0 || strings.Contains(c.stderr, "warning") {
		t.Fatalf("exit code %d\n%s", c.code, c.stderr)
	}
	good := parseOutput(t, c.stdout)
	rapid.Check(t, func(t *rapid.T) {
		files := maps.Clone(whole)
		var did []string
		for range rapid.IntRange(1, 4).Draw(t, "damages") {
			did = append(did, files.damage(t))
		}
		top, err := os.MkdirTemp("", "damage")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(top)
		dir := filepath.Join(top, "lab")
		files.write(t, dir)
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"ingest", "--config", emptySettings, allLevels, "--output", "-", dir}, nil, &out, &errs)
		t.Logf("%s\nexit code %d\n%s", strings.Join(did, "\n"), code, &errs)
		if code != 0 && code != exitLeftOut {
			t.Fatalf("exit code %d", code)
		}
		if strings.Contains(errs.String(), "warning: ") != (code == exitLeftOut) {
			t.Errorf("exit code %d does not match stderr", code)
		}
		checkDamaged(t, whole, files, good, parseOutput(t, out.String()), code)
	})
}

// firstDifference returns the first place at which lines differ from the expected ones.
func firstDifference(got, want []string) string {
	g, w := strings.Join(got, ""), strings.Join(want, "")
	at := 0
	for at < min(len(g), len(w)) && g[at] == w[at] {
		at++
	}
	const before, after = 60, 100
	around := func(s string) string { return s[max(at-before, 0):min(at+after, len(s))] }
	return fmt.Sprintf("got  …%s…\nwant …%s…", around(g), around(w))
}

// checkDamaged compares the result of a damaged archive with the expected one.
func checkDamaged(t *rapid.T, whole, files archiveFiles, good, got output, code int) {
	for path, want := range good {
		d := damageOf(whole, files, path)
		run := got[path]
		switch {
		case !d.any:
			if run == nil {
				t.Errorf("%s is gone, though nothing of it was damaged", path)
			} else if !slices.Equal(run.lines, want.lines) {
				t.Errorf("%s is another one, though nothing of it was damaged:\n%s", path, firstDifference(run.lines, want.lines))
			}
			continue
		case d.gone:
			if run != nil {
				t.Errorf("%s has no files and was found", path)
			}
			continue
		case run == nil:
			if code != exitLeftOut {
				t.Errorf("%s is left out, and the exit code is %d", path, code)
			}
			continue
		}
		doc := run.doc
		if d.lost && doc.Run.Complete && len(doc.Warnings) == 0 {
			t.Errorf("%s says nothing of its damage", path)
		}
		if d.leftOut && (doc.Run.Complete || code != exitLeftOut) {
			t.Errorf("%s: something was left out; complete: %v, exit code %d", path, doc.Run.Complete, code)
		}
		surplus := strings.Contains(strings.Join(doc.Warnings, "\n"), "more than the")
		if sum := run.completed + doc.Missing.Requests; d.counted && !surplus && sum != want.completed {
			t.Errorf("%s: %d requests in documents and %d missing are not %d", path, run.completed, doc.Missing.Requests, want.completed)
		}
	}
	for path := range got {
		if good[path] == nil {
			t.Errorf("run %s was not there before", path)
		}
	}
}

type damaged struct {
	any     bool // a file of the run, or the configuration of the whole archive, was changed
	gone    bool // no file is left
	lost    bool // something cannot be recovered
	leftOut bool // something is known to exist, but cannot be used
	counted bool // a good report of each host is left
}

func damageOf(whole, files archiveFiles, run string) damaged {
	d := damaged{gone: true, counted: true}
	rows := 0
	const config = "results/cbt_config.yaml"
	hostsKnown := bytes.Equal(whole[config], files[config])
	for name, before := range whole {
		if path.Dir(name) != run && name != config {
			continue
		}
		now, there := files[name]
		changed := !there || !bytes.Equal(now, before)
		d.any = d.any || changed
		if path.Dir(name) == run && there && !strings.HasSuffix(name, ".yaml") {
			d.gone = false
		}
		switch base := path.Base(name); {
		case strings.HasSuffix(name, ".yaml"):
			var v map[string]any
			if there && yaml.Unmarshal(now, &v) != nil || there && len(v) == 0 || !there && path.Dir(name) == run {
				d.lost, d.leftOut = true, true
			}
		case strings.Contains(name, "_clat_hist."):
			rows += bytes.Count(now, []byte("\n"))
			if host := path.Ext(name); !hostsKnown && len(files.names(func(n string) bool { return path.Dir(n) == run && path.Ext(n) == host })) == 0 {
				continue // no file shows that this host existed
			}
			// If fewer rows are missing, the report has their requests.
			if changed && 2*bytes.Count(now, []byte("\n"))+2 < bytes.Count(before, []byte("\n")) {
				d.lost = true
			}
			if !there {
				d.leftOut = true
			}
		case strings.HasPrefix(base, "json_output."):
			// CBT stores each report twice: alone, and within the output of fio.
			second := files[path.Join(run, strings.TrimPrefix(base, "json_"))]
			own, some := bytes.Contains(now, before), bytes.Contains(now, []byte(`"jobs"`))
			d.counted = d.counted && (own || !some && bytes.Contains(second, before))
			if there || second != nil || hostsKnown {
				d.lost = d.lost || !some && !bytes.Contains(second, []byte(`"jobs"`))
			}
		}
	}
	if rows == 0 {
		d.counted = false // no windows
	}
	if !d.counted {
		d.leftOut = false
	}
	return d
}

// TestCutArchive cuts off an archive that is a single file, at any place. What is before the cut must be used, and
// runs that are incomplete must say so.
func TestCutArchive(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lab")
	generated(t, damageSpec, dir)
	good := parseOutput(t, call(t, nil, "ingest", allLevels, "--output", "-", dir).stdout)
	packed := pack(t, damageSpec)
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom(slices.Sorted(maps.Keys(packed))).Draw(t, "form")
		data := packed[form]
		// not rapid's own numbers, because it prefers small ones
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		data = data[:rng.IntN(len(data))]
		args := []string{"ingest", "--config", emptySettings, allLevels, "--output", "-", "--archive", "lab", "-"}
		var out, errs bytes.Buffer
		code := run(t.Context(), args, bytes.NewReader(data), &out, &errs)
		t.Logf("exit code %d\n%s", code, &errs)
		got := parseOutput(t, out.String())
		switch {
		case code == exitFailed && len(got) == 0 && strings.Contains(errs.String(), "no fio logs"):
			return
		case code != exitLeftOut && len(got) == len(good):
			// Only the end of the archive, or its directory, is missing.
		case code != exitLeftOut:
			t.Errorf("exit code %d", code)
		}
		incomplete := 0
		for path, r := range got {
			want := good[path]
			switch {
			case want == nil:
				t.Errorf("run %s was not there before", path)
			case slices.Equal(r.lines, want.lines):
			case r.doc.Run.Complete && len(r.doc.Warnings) == 0 && r.completed != want.completed:
				t.Errorf("%s has %d requests instead of %d and does not say why", path, r.completed, want.completed)
			// all runs say that the archive is cut off
			case r.completed != want.completed || len(r.lines) != len(want.lines):
				incomplete++
			}
		}
		if incomplete > 1 {
			t.Errorf("%d runs are not what they were, but one can be where the archive ends", incomplete)
		}
	})
}
