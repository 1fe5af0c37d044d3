package evidence_test

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

// TestDigest: a file has the same digest and beginning, also if it was read before.
func TestDigest(t *testing.T) {
	contents := map[string]string{
		"empty":     "",
		"digits":    strings.Repeat("7", 3*mapping.BeginDigits),
		"few":       strings.Repeat("0, ", 100<<10) + "123",
		"late":      strings.Repeat("0", 255<<10) + strings.Repeat("5", 2<<10),
		"too late":  strings.Repeat("0", 256<<10) + strings.Repeat("5", 2<<10),
		"report":    report,
		"ends with": strings.Repeat("1", mapping.BeginDigits),
	}
	for name, content := range contents {
		looked, hashed := write(t, name+".json", content), write(t, name+" again.json", content)
		looked.Printed(t.Context())
		begun := hashed.Beginning()
		if a, b := looked.Digest(), hashed.Digest(); a != b || a.Beginning != begun || looked.Beginning() != begun {
			t.Errorf("%s: %+v after a look, %+v without, begins %+v", name, a, b, begun)
		}
		if has := hashed.Digest().Begin != ""; has != (name == "digits" || name == "late" || name == "ends with") {
			t.Errorf("%s: begins %+v", name, begun)
		}
	}
}

// TestOpenAll: who reads all of a file hashes it, unless it becomes another one meanwhile.
func TestOpenAll(t *testing.T) {
	for _, grows := range []bool{false, true} {
		f := write(t, "a.log", strings.Repeat("1000, 0, 4096\n", 10_000))
		in, err := f.OpenAll()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Read(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		if grows {
			if err := os.WriteFile(f.Disk, []byte("1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f.Beginning() // sees a change
		if _, err := io.Copy(io.Discard, in); err != nil {
			t.Fatal(err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		want := evidence.Of(f.File).Digest()
		if was := f.State(); !grows { // nothing is read again, so another content of that size and time is not seen
			if err := os.WriteFile(f.Disk, make([]byte, was.Size), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(f.Disk, time.Time{}, was.ModTime); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.Digest(); got != want {
			t.Errorf("grows %v: %+v, want %+v", grows, got, want)
		}
	}
}
