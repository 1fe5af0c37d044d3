package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/testcost"
	"github.com/fio2es/fio2es/mapping"
)

// victimVariable makes the test binary the process that TestKill kills.
const victimVariable = "FIO2ES_TEST_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victimVariable); path != "" {
		if err := writeForever(path, os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if path := os.Getenv(rivalVariable); path != "" {
		fmt.Println(beginNow(path))
		return
	}
	os.Exit(m.Run())
}

// rivalVariable makes the test binary another process that wants to write (TestLocksOfProcess).
const rivalVariable = "FIO2ES_TEST_RIVAL"

// beginNow begins a writing transaction, without waiting for other processes.
func beginNow(path string) error {
	db, err := sql.Open("sqlite", path+"?_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	return tx.Rollback()
}

const batch = 25 // documents in each Put

// writeForever puts batches, and prints the number of each batch after it is stored.
func writeForever(path, name string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		docs := make([]*mapping.Interval, batch)
		for i := range docs {
			docs[i] = historytest.Interval(name, "1", n*batch+i)
		}
		if err := s.Put(ctx, docs); err != nil {
			return err
		}
		if n%3 == 2 { // some batches are finished, too
			if err := s.Finish(ctx, historytest.NewRun(name, "1")); err != nil {
				return err
			}
		}
		fmt.Println(n)
	}
}

// TestKill kills a writing process at moments that depend on the seed. All batches that it reported as stored must be there, and the
// file must be sound.
func TestKill(t *testing.T) {
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	path := filepath.Join(t.TempDir(), "h.db")
	rng := rand.New(rand.NewPCG(testcost.Seed(), 1))
	stored := map[string]int{}
	for round := range rounds {
		name := fmt.Sprint("round ", round)
		// The first process is killed while it creates the file.
		stored[name] = killed(t, path, name, round*rng.IntN(40), time.Duration(rng.IntN(40_000))*time.Microsecond)
		check(t, path, stored)
	}
	t.Logf("batches reported: %v", stored)
}

// TestWriters: several processes write, and this one reads, until each has reported some batches. The file must be sound.
func TestWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	closing(t, open(t, path))
	var mu sync.Mutex
	stored := map[string]int{}
	t.Run("at the same time", func(t *testing.T) {
		for _, name := range []string{"a", "b", "c"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				n := killed(t, path, name, 15, 0)
				mu.Lock()
				defer mu.Unlock()
				stored[name] = n
			})
		}
		t.Run("reader", func(t *testing.T) {
			t.Parallel()
			s, err := sqlite.OpenReadOnly(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer closing(t, s)
			for done := false; !done; {
				for _, err := range s.Runs(t.Context(), history.RunFilter{}) {
					if err != nil {
						t.Fatal(err)
					}
				}
				mu.Lock()
				done = len(stored) == 3
				mu.Unlock()
			}
		})
	})
	check(t, path, stored)
}

// killed starts a writing process, and kills it delay after it has reported the batch with the number after. It
// returns how many batches the process reported.
func killed(t *testing.T, path, name string, after int, delay time.Duration) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], name)
	cmd.Env = append(os.Environ(), victimVariable+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() {
		time.Sleep(delay)
		_ = cmd.Process.Kill()
	}
	if after <= 0 {
		go kill()
	}
	reported := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err != nil || n != reported {
			t.Errorf("the process reported %q after %d batches", lines.Text(), reported)
		}
		if reported++; reported == after {
			go kill()
		}
	}
	_ = cmd.Wait() // the error is "signal: killed"
	return reported
}

func check(t *testing.T, path string, stored map[string]int) {
	t.Helper()
	s := open(t, path)
	defer closing(t, s)
	for name, batches := range stored {
		if err := s.Finish(t.Context(), historytest.NewRun(name, "1")); err != nil {
			t.Fatal(err)
		}
		n := 0
		for d, err := range s.Intervals(t.Context(), history.Selection{Runs: []string{historytest.ID(name)}}) {
			if err != nil {
				t.Fatal(err)
			}
			if n%17 == 0 && string(d.AppendJSON(nil)) != string(historytest.Interval(name, "1", n).AppendJSON(nil)) {
				t.Fatalf("%s: document %d is another one", name, n)
			}
			n++
		}
		// The last batch may be stored although it was not reported. A part of a batch must not be there.
		if n < batches*batch || n > (batches+1)*batch || n%batch != 0 {
			t.Errorf("%s: %d documents, reported %d batches of %d", name, n, batches, batch)
		}
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var sound string
	if err := db.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&sound); err != nil || sound != "ok" {
		t.Errorf("integrity check: %s, %v", sound, err)
	}
}
