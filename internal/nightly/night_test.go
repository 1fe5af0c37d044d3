package nightly_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// change changes the table of memos.
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
		"no memos":                {func(t *testing.T, _ string, k *keeper) { k.change(t, `DELETE FROM memos`) }, all},
		"memos of other programs": {func(t *testing.T, _ string, k *keeper) { k.change(t, `UPDATE memos SET text = '"x"'`) }, all},
	} {
		t.Run(name, func(t *testing.T) {
			dir, k := lab(t)
			k.night(opt, dir, false)
			if n := k.begin(opt, dir, later()); !k.isUnchanged(n) {
				t.Fatal("the archive has changed at once")
			}
			c.change(t, dir, k)
			n := k.begin(opt, dir, later())
			if ok := k.isUnchanged(n); ok != (name == "nothing") {
				t.Errorf("unchanged: %v", ok)
			}
			if read := k.ingest(n, opt, false, false); read != c.read {
				t.Errorf("%d runs were read, want %d", read, c.read)
			}
			if n := k.begin(opt, dir, later()); !k.isUnchanged(n) {
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
		if k.isUnchanged(n) {
			t.Error("unchanged, though a log may have been changed since")
		}
		if read := k.ingest(n, opt, false, false); read == 0 {
			t.Error("not read again")
		}
	}
}

// TestWrong: if the contents of a file changed without a trace, an ingest that reads all files reports it.
func TestWrong(t *testing.T) {
	var opt pipeline.Options
	dir, k := lab(t)
	k.night(opt, dir, false)
	n := k.begin(opt, dir, later())
	if read := k.ingest(n, opt, true, false); read != 2 || len(n.Wrong) > 0 {
		t.Errorf("%d runs read, wrong %q, but nothing changed", read, n.Wrong)
	}
	before := k.keys(t)
	name := oneLog(t, dir)
	text, err := os.ReadFile(name)
	check(t, errors.Join(err, os.WriteFile(name, bytes.Replace(text, []byte(", 1,"), []byte(", 2,"), 1), 0o600)))
	_, other := lab(t) // another history with the same archive
	other.night(opt, dir, false)
	after := other.keys(t) // of the new files, which get the memos of the old ones
	for key := range after {
		for old := range before {
			if !before[key] && !after[old] {
				k.change(t, `UPDATE memos SET key = ? WHERE key = ?`, key, old)
			}
		}
	}
	if read := k.ingest(k.begin(opt, dir, later()), opt, false, true); read != 0 {
		t.Errorf("%d runs read", read)
	}
	n = k.begin(opt, dir, later())
	k.ingest(n, opt, true, false)
	if wrong := n.Wrong; len(wrong) != 1 || !strings.HasPrefix(wrong[0], "lab:") {
		t.Errorf("wrong: %q", wrong)
	}
	n = k.begin(opt, dir, later())
	if k.ingest(n, opt, true, false); len(n.Wrong) > 0 {
		t.Error("still wrong")
	}
}

// keys returns the keys of the memos of runs.
func (k *keeper) keys(t *testing.T) map[string]bool {
	t.Helper()
	db, err := sql.Open("sqlite", k.file)
	check(t, err)
	defer db.Close()
	rows, err := db.Query(`SELECT key FROM memos WHERE text LIKE '%"Runs":{%'`)
	check(t, err)
	defer rows.Close()
	keys := map[string]bool{}
	for rows.Next() {
		var key string
		check(t, rows.Scan(&key))
		keys[key] = true
	}
	check(t, rows.Err())
	return keys
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
			if n := k.begin(opt, dir, later()); !k.isUnchanged(n) || n.Damage() != 1 {
				t.Errorf("changed, or %d messages", n.Damage())
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

// TestNotStored: files changed and can no longer replace the stored run. The same ingest, and not only the next one,
// warns about what the stored run lacks.
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
		if damage := k.night(opt, dir, false); damage != 2 {
			t.Errorf("night %d: %d messages, want that it is not stored, and what the history lacks", night, damage)
		}
	}
}

// TestTwoAtOnce: after two ingests at the same time, the history has the memos of both.
func TestTwoAtOnce(t *testing.T) {
	var opt pipeline.Options
	dir, k := lab(t)
	runs, err := filepath.Glob(filepath.Join(dir, "results", "*", "id-*"))
	if err != nil || len(runs) != 2 {
		t.Fatal(runs, err)
	}
	a, b := k.begin(opt, runs[0], later()), k.begin(opt, runs[1], later())
	k.ingest(a, opt, false, false)
	k.ingest(b, opt, false, false)
	for _, run := range runs {
		if !k.isUnchanged(k.begin(opt, run, later())) {
			t.Errorf("%s is not remembered", run)
		}
	}
}

// TestStdin: input that can be read only once is not remembered.
func TestStdin(t *testing.T) {
	_, k := lab(t)
	if n := k.begin(pipeline.Options{}, "-", later()); n.Remembers() || k.isUnchanged(n) {
		t.Error("stdin is remembered")
	}
}
