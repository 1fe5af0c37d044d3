package pipeline

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
)

// A zip without Unix times has the time of a clock on a wall: how far it is from UTC, nothing
// says. One with them is exact to two seconds.
func TestStartFromAZip(t *testing.T) {
	var log strings.Builder
	if _, err := (fiotest.LogSpec{Seconds: 5}).WriteTo(&log); err != nil {
		t.Fatal(err)
	}
	written := time.Date(2026, 3, 1, 12, 0, 4, 0, time.UTC)
	for name, want := range map[string]time.Duration{"local": errorOfZone, "unix": errorOfCoarse} {
		header := &zip.FileHeader{Name: "x_clat_hist.1.log"}
		if header.Modified = written; name == "local" {
			header.Modified = time.Time{}
			//lint:ignore SA1019 Modified would write the time zone that is missing here
			header.ModifiedDate, header.ModifiedTime = (2026-1980)<<9|3<<5|1, 12<<11|2
		}
		file := filepath.Join(t.TempDir(), "x.zip")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		w, err := z.CreateHeader(header)
		if err == nil {
			_, err = w.Write([]byte(log.String()))
		}
		if err != nil || z.Close() != nil || f.Close() != nil {
			t.Fatal(err)
		}
		a, err := Open(t.Context(), []string{file}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		d, err := MakePlan(t.Context(), a.Runs[0], Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(fmt.Sprint(d.Notes), "its zip keeps times without a time zone")
		if d.Error != want || said != (name == "local") || d.Start.Hour() != 12 && d.Start.Hour() != 11 {
			t.Errorf("%s: %v ± %v, notes %v; want ± %v", name, d.Start, d.Error, d.Notes, want)
		}
	}
}
