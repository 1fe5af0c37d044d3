package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// TestCollectLogs: logs that the user has elsewhere are copied if they are of this run. All logs get the host.
func TestCollectLogs(t *testing.T) {
	mine, folder, now := t.TempDir(), t.TempDir(), time.Now().Truncate(time.Second).Add(time.Second/2)
	write := func(name string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(name, []byte("1, 0, 4096, 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.Add(-age)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(mine, "a[x]_clat_hist.1.log"), 0)
	write(filepath.Join(mine, "a[x]_clat_hist.2.log"), time.Hour)
	write(filepath.Join(mine, "a[x]_clat_hist.4.log"), time.Minute+time.Millisecond) // of the run before, in the same second
	write(filepath.Join(mine, "a[x]_clat_hist.5.log"), time.Minute+time.Second/2)    // on a file system with whole seconds
	write(filepath.Join(folder, "job_clat_hist.3.log"), 0)
	c, err := fioargs.Parse([]string{"fio", "--write_hist_log=" + filepath.Join(mine, "a[x]"), "--name=a", "--name=b"}, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	e := &Entry{Folder: folder, Host: "lab7", Started: now.Add(-time.Minute)}
	if err := e.CollectLogs(c); err != nil {
		t.Fatal(err)
	}
	var got []string
	files, _ := os.ReadDir(folder)
	for _, f := range files {
		got = append(got, f.Name())
	}
	if diff := cmp.Diff([]string{"a[x]_clat_hist.1.log.lab7", "a[x]_clat_hist.5.log.lab7", "job_clat_hist.3.log.lab7"}, got); diff != "" {
		t.Error(diff)
	}
	write(filepath.Join(folder, "a[x]_clat_hist.1.log"), 0)
	if err := e.CollectLogs(c); err == nil || !strings.Contains(err.Error(), "exist") {
		t.Errorf("two logs of one name: %v", err)
	}
}
