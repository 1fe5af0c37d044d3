package fioargs

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestReadJobFile: of a job file beside results, options are as they are written, and included files are not read.
func TestReadJobFile(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		includes         bool
	}{
		{"pbench", "[global]\nbs=128k\nruntime=30\nioengine=libaio\niodepth=32\ntime_based=1\nwrite_hist_log=fio\nlog_hist_msec=10000\n\n" +
			"[job-/dev/sda]\nfilename=/dev/sda\nrw=randwrite\nnumjobs=2\n",
			"[job-/dev/sda] x.fio:10: bs=128k runtime=30 ioengine=libaio iodepth=32 time_based=1 write_hist_log=fio log_hist_msec=10000 " +
				"filename=/dev/sda rw=randwrite numjobs=2\n", false},
		{"comments, blanks, flags, other names", "\ufeff; a comment\n# another\r\n\n  [global]  # one more\n\tblocksize = 4k ; not a value\n[a b]\ndirect\nreadwrite=randread\r\ntimeout=5",
			"[a b] x.fio:6: bs=4k direct= rw=randread runtime=5\n", false},
		{"global again", "[global]\nbs=4k\n[a]\n[global]\nbs=8k\n[b]\nbs=16k\n[c]\ninclude other.fio\n",
			"[a] x.fio:3: bs=4k\n[b] x.fio:6: bs=16k\n[c] x.fio:8: bs=8k\n", true},
		{"values as they are", "[j]\nfilename=/dev/a:/dev/b\nexec_prerun=a = b\nsize=${SIZE}\n",
			"[j] x.fio:1: filename=/dev/a:/dev/b exec_prerun=a = b size=${SIZE}\n", false},
		{"global options alone", "[global]\nbs=4k\n", "", false},
	} {
		got, err := ReadJobFile(strings.NewReader(tt.text), "x.fio")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, text(got)); diff != "" || got.Includes != tt.includes {
			t.Errorf("%s: includes %v (-want +got):\n%s", tt.name, got.Includes, diff)
		}
		for _, s := range got.Jobs {
			for name, value := range s.Map() {
				if o, ok := s.Get(name); !ok || o.Value != value {
					t.Errorf("%s: [%s] %s=%s", tt.name, s.Name, name, value)
				}
			}
		}
	}
}

func TestBadJobFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                          `x.fio:1:1: got the end of the file, want a section such as [global]`,
		"; nothing\n":               `x.fio:2:1: got the end of the file, want a section such as [global]`,
		"bs=4k\n":                   `x.fio:1:1: got "bs=4k", want a section such as [global]`,
		"[global\n":                 `x.fio:1:8: got the end of the line, want "]"`,
		"[]\n":                      `x.fio:1:1: got "[]", want a section such as [global]`,
		"[a]\n  =4k\n":              `x.fio:2:3: got "=4k", want an option such as bs=4k`,
		"[a]\n{\"x\": 1}\n":         `x.fio:2:1: got "{\"x\": 1}", want an option such as bs=4k`,
		"[a]\nthis is prose\n":      `x.fio:2:1: got "this is prose", want an option such as bs=4k`,
		"[a]\n\x00\x01\n":           `x.fio:2:1: got "\x00\x01", want text`,
		"[a] b\n":                   `x.fio:1:1: got "[a] b", want a section such as [global]`,
		strings.Repeat("\n", 1<<21): fmt.Sprintf("x.fio:%d:1: got more than 1048576 bytes, want a job file", 1<<20+1),
		"[a]\nnumjobs=40000\n[b]\nnumjobs=40000\n":                                        `x.fio:1:1: got 80000 jobs, want at most 65536`,
		"[global]\n" + strings.Repeat("direct=1\n", 1000) + strings.Repeat("[a]\n", 1000): `x.fio:1263:1: got "[a]", want at most 262144 options in all sections`,
	} {
		_, err := ReadJobFile(strings.NewReader(text), "x.fio")
		if bad := (*fiolog.SyntaxError)(nil); !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	if _, err := ReadJobFile(failing{}, "x.fio"); err == nil || !strings.Contains(err.Error(), "read x.fio") {
		t.Error(err)
	}
}

// TestJobFileAsFio: fio reads the same options out of a job file, as its report says.
func TestJobFileAsFio(t *testing.T) {
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("fio is not installed")
	}
	dir := t.TempDir()
	text := "; c\n[global]\nioengine=null ; c\nsize=64k\n\n[a]\n  blocksize = 8k # c\nrw=randread\n[global2]\niodepth=4\n[b c]\nreadwrite=write\n[GLOBAL]\nbs=512\n[last]\n"
	file := filepath.Join(dir, "x.fio")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), fio, "--output-format=json", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := ReadJobFile(strings.NewReader(text), file)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range fiolog.ReadReports(strings.NewReader(string(out)), "fio") {
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Jobs) != len(ours.Jobs) {
			t.Fatalf("fio has %d jobs, we have %d", len(r.Jobs), len(ours.Jobs))
		}
		for i, j := range r.Jobs {
			if j.Name != ours.Jobs[i].Name {
				t.Errorf("job %q, we have %q", j.Name, ours.Jobs[i].Name)
			}
			for _, key := range slices.Sorted(maps.Keys(j.Options)) {
				if got := ours.Jobs[i].Map()[key]; got != strings.TrimSpace(j.Options[key]) {
					t.Errorf("%s: %s is %q, we have %q", j.Name, key, j.Options[key], got)
				}
			}
		}
	}
}

func FuzzJobFile(f *testing.F) {
	f.Add("[global]\nbs=4k\n[a]\nrw=read\n; c\nflag\n")
	f.Add("[a\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ReadJobFile(strings.NewReader(text), "x")
		if err != nil {
			if bad := (*fiolog.SyntaxError)(nil); !errors.As(err, &bad) || bad.Line < 1 || bad.Column < 1 {
				t.Fatalf("%v has no place", err)
			}
			return
		}
		for _, s := range got.Jobs {
			if s.Name == "" || s.At == "" {
				t.Fatalf("section %+v", s)
			}
			for key, value := range s.Map() {
				if key == "" || strings.ContainsAny(key+value, "\n;#") {
					t.Fatalf("option %q=%q", key, value)
				}
				ParseSize(value)
				ParseTime(value)
			}
		}
	})
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("broken") }
