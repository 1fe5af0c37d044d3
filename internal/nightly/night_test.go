package nightly_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/pipeline"
)

// lab returns an archive of two runs, and a history.
func lab(t *testing.T) (dir string, k *keeper) {
	t.Helper()
	base := t.TempDir()
	dir = filepath.Join(base, "lab")
	if _, err := (fiotest.ArchiveSpec{Runs: 2, Hosts: 2, Jobs: 1, Seconds: 2}).WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	k = &keeper{tb: t, file: filepath.Join(base, "h.db")}
	k.open()
	t.Cleanup(func() { k.store.Close() })
	return dir, k
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (k *keeper) change(t *testing.T, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", k.file)
	check(t, err)
	defer db.Close()
	_, err = db.Exec(statement, args...)
	check(t, err)
}

func oneLog(t *testing.T, dir string) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "results", "*", "*", "*_clat_hist.*"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	return logs[0]
}

// TestUnchanged: an unchanged archive is not read. After each change of a file, its run is read.
func TestUnchanged(t *testing.T) {
	const all = 2
	var opt pipeline.Options
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string, k *keeper)
		read   int // runs that are read
	}{
		"nothing": {func(*testing.T, string, *keeper) {}, 0},
		"time of a log": {func(t *testing.T, dir string, _ *keeper) {
			check(t, os.Chtimes(oneLog(t, dir), time.Unix(1e9, 0), time.Unix(1e9, 0)))
		}, 1},
		"another file of the same name, size and time": {func(t *testing.T, dir string, _ *keeper) {
			name := oneLog(t, dir)
			info, err := os.Stat(name)
			check(t, err)
			text, err := os.ReadFile(name)
			check(t, errors.Join(err, os.WriteFile(name+".new", text, 0o600), os.Chtimes(name+".new", info.ModTime(), info.ModTime()), os.Rename(name+".new", name)))
		}, 1},
		"a log is gone": {func(t *testing.T, dir string, _ *keeper) { check(t, os.Remove(oneLog(t, dir))) }, 1},
		"a file of no run": {func(t *testing.T, dir string, _ *keeper) {
			check(t, os.WriteFile(filepath.Join(filepath.Dir(oneLog(t, dir)), "notes"), nil, 0o600))
		}, 0},
		"configuration of all": {func(t *testing.T, dir string, _ *keeper) {
			check(t, os.Chtimes(filepath.Join(dir, "results", "cbt_config.yaml"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
		}, all},
		"another history":   {func(_ *testing.T, _ string, k *keeper) { k.recreate() }, all},
		"a run was deleted": {func(t *testing.T, _ string, k *keeper) { check(t, k.store.Delete(t.Context(), k.runs()[0].Run.ID)) }, 1},
		"a run has other windows": {func(t *testing.T, dir string, k *keeper) {
			k.night(pipeline.Options{Window: 2 * time.Second}, dir, true)
		}, all},
		"nothing is remembered":  {func(t *testing.T, _ string, k *keeper) { k.change(t, `DELETE FROM seen`) }, all},
		"another form of states": {func(t *testing.T, _ string, k *keeper) { k.change(t, `UPDATE seen SET state = 'x'`) }, all},
		"a run has documents of another version": {func(t *testing.T, _ string, k *keeper) {
			k.change(t, `INSERT INTO ingests (run, ingest, written) SELECT run, 'other', 0 FROM ingests WHERE number = 1`)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir, k := lab(t)
			k.night(opt, dir, false)
			if n := k.begin(opt, dir, later()); !n.isUnchanged() {
				t.Fatal("the archive has changed at once")
			}
			c.change(t, dir, k)
			n := k.begin(opt, dir, later())
			if ok := n.isUnchanged(); ok != (name == "nothing") {
				t.Errorf("unchanged: %v", ok)
			}
			if read := n.ingest(false, false); read != c.read {
				t.Errorf("%d runs were read, want %d", read, c.read)
			}
			if n := k.begin(opt, dir, later()); !n.isUnchanged() {
				t.Error("changed in the night after that")
			}
		})
	}
}

// TestLately: a file that was changed while it was listed is read again.
func TestLately(t *testing.T) {
	var opt pipeline.Options
	dir, k := lab(t)
	at := later()
	check(t, os.Chtimes(oneLog(t, dir), at, at))
	for range 2 {
		n := k.begin(opt, dir, at)
		if n.isUnchanged() {
			t.Error("unchanged, though a log may have been changed since")
		}
		if read := n.ingest(false, false); read == 0 {
			t.Error("not read again")
		}
	}
}

// TestVerify: if the contents of a file changed without a trace, or another program removed documents, an ingest that reads all files
// finds it.
func TestVerify(t *testing.T) {
	var opt pipeline.Options
	dir, k := lab(t)
	k.night(opt, dir, false)
	k.change(t, `DELETE FROM intervals WHERE ingest = 1`)
	n := k.begin(opt, dir, later())
	if read := n.ingest(true, false); read != 2 {
		t.Errorf("%d runs read, want all", read)
	}
	counts, err := k.store.Count(t.Context(), nil)
	check(t, err)
	for _, run := range k.runs() {
		if !counts.IsWhole(run) {
			t.Errorf("%s lacks %s", run.Run.Name, counts.LackText(run))
		}
	}
	name := filepath.Join(filepath.Dir(oneLog(t, dir)), "json_output.0.client01")
	text, err := os.ReadFile(name)
	check(t, errors.Join(err, os.WriteFile(name, bytes.Replace(text, []byte(`"usr_cpu" : 0`), []byte(`"usr_cpu" : 1`), 1), 0o600)))
	_, other := lab(t) // another history with the same archive
	other.night(opt, dir, false)
	k.change(t, `ATTACH ? AS other; UPDATE seen SET state = (SELECT o.state FROM other.seen AS o WHERE o.place = seen.place)`, other.file)
	if read := k.begin(opt, dir, later()).ingest(false, true); read != 0 {
		t.Errorf("%d runs read", read)
	}
	n = k.begin(opt, dir, later())
	if n.ingest(true, false); len(n.damage) != 1 {
		t.Errorf("%d messages, want that the other report is of no run in the history", len(n.damage))
	}
}

// TestDamage: a damage is reported every night, until it is mended.
func TestDamage(t *testing.T) {
	// the time of a log stays, because a log that is much later than its report is another damage
	write := func(name string, text []byte) error {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(name, text, 0o600), os.Chtimes(name, time.Time{}, info.ModTime()))
	}
	var opt pipeline.Options
	var log []byte
	for name, spoil := range map[string]func(dir string) error{
		"of a run": func(dir string) (err error) {
			log, err = os.ReadFile(oneLog(t, dir))
			return errors.Join(err, write(oneLog(t, dir), log[:2000]))
		},
		"of no run": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "more.tar.gz"), []byte("not packed"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, k := lab(t)
			check(t, spoil(dir))
			for night := range 3 {
				if damage := k.night(opt, dir, false); damage != 1 {
					t.Fatalf("night %d: %d messages: %s", night, damage, &k.log)
				}
			}
			if n := k.begin(opt, dir, later()); !n.isUnchanged() || len(n.damage) != 1 {
				t.Errorf("changed, or said %q", n.damage)
			}
			if n := k.begin(opt, dir, later()); n.ingest(true, true) == 0 || len(n.damage) != 1 {
				t.Errorf("reading all said %q", n.damage)
			}
			check(t, os.RemoveAll(filepath.Join(dir, "more.tar.gz")))
			if name == "of a run" {
				check(t, write(oneLog(t, dir), log))
			}
			if damage := k.night(opt, dir, false); damage != 0 {
				t.Errorf("%d messages after it was mended: %s", damage, &k.log)
			}
		})
	}
}

// TestCutAndCopiedAgain: what was said of a copy that was cut is not what the stored run lacks.
func TestCutAndCopiedAgain(t *testing.T) {
	var opt pipeline.Options
	dir, k := lab(t)
	k.night(opt, dir, false)
	name := oneLog(t, dir)
	info, err := os.Stat(name)
	check(t, err)
	text, err := os.ReadFile(name)
	check(t, errors.Join(err, os.Truncate(name, 2000), os.Chtimes(name, time.Time{}, info.ModTime())))
	for night := range 2 {
		if damage := k.night(opt, dir, false); damage != 1 {
			t.Errorf("night %d: %d messages, want that the log was cut", night, damage)
		}
	}
	check(t, errors.Join(os.WriteFile(name, text, 0o600), os.Chtimes(name, time.Time{}, info.ModTime())))
	if damage := k.night(opt, dir, false); damage != 0 {
		t.Errorf("%d messages of a whole log", damage)
	}
}

// TestNotStored: files changed and can no longer replace the stored run. Each night says so.
func TestNotStored(t *testing.T) {
	var opt pipeline.Options
	dir, k := lab(t)
	run := filepath.Dir(oneLog(t, dir))
	cut := func(name string) {
		t.Helper()
		name = filepath.Join(run, name)
		info, err := os.Stat(name)
		check(t, err)
		check(t, os.Truncate(name, info.Size()*2/3))
	}
	cut("json_output.0.client02")
	if damage := k.night(opt, dir, false); damage != 1 {
		t.Fatalf("%d messages: %s", damage, &k.log)
	}
	cut("output.0.client02")
	log := filepath.Join(run, "output.0_clat_hist.1.log.client01")
	text, err := os.ReadFile(log)
	check(t, err)
	check(t, os.WriteFile(log, bytes.Replace(text, []byte(", 1,"), []byte(", 2,"), 1), 0o600))
	for night := range 2 {
		if damage := k.night(opt, dir, false); damage != 1 {
			t.Errorf("night %d: %d messages, want that it is not stored", night, damage)
		}
	}
}

// TestTwoAtOnce: after two ingests at the same time, both are remembered.
func TestTwoAtOnce(t *testing.T) {
	var opt pipeline.Options
	dir, k := lab(t)
	runs, err := filepath.Glob(filepath.Join(dir, "results", "*", "id-*"))
	if err != nil || len(runs) != 2 {
		t.Fatal(runs, err)
	}
	a, b := k.begin(opt, runs[0], later()), k.begin(opt, runs[1], later())
	a.ingest(false, false)
	b.ingest(false, false)
	for _, run := range runs {
		if !k.begin(opt, run, later()).isUnchanged() {
			t.Errorf("%s is not remembered", run)
		}
	}
}

// TestStdin: input that can be read only once is not remembered.
func TestStdin(t *testing.T) {
	_, k := lab(t)
	if n := k.begin(pipeline.Options{}, "-", later()); n.remembers || n.isUnchanged() {
		t.Error("stdin is remembered")
	}
}
