package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/record"
)

// TestSweepRuns: a sweep does not begin while another command runs it, or while its fio continues after fio2es was killed.
func TestSweepRuns(t *testing.T) {
	t.Parallel()
	e := newEnv(nil, &bytes.Buffer{}, &bytes.Buffer{})
	e.cfg.History = filepath.Join(t.TempDir(), "history.db")
	fio, err := fioargs.Parse([]string{"fio", "--name=a"}, os.ReadFile)
	check(t, err)
	store, err := e.writeEmbedded(t.Context())
	check(t, err)
	defer store.Close()
	r := &runCall{env: e, fio: fio, to: ingest.Target{Store: store}}
	mark, err := r.mark()
	check(t, err)
	for name, isSame := range map[string]bool{"-" + mark: true, "-00000000": false} {
		entry, err := e.folders().Begin(record.Entry{Name: "a", Started: time.Now(), Sweep: map[string]string{labelSweep: "20261121-100000.000" + name}})
		check(t, err)
		err = r.beginSweep(t.Context())
		if isSame && (err == nil || !strings.Contains(err.Error(), "this sweep already runs, in "+entry.Folder)) || !isSame && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		check(t, entry.Release())
		check(t, r.beginSweep(t.Context()))
	}
}
