package fiolog

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadJobFile(t *testing.T) {
	tests := []struct {
		name, text string
		want       *JobFile
	}{
		{"pbench", "[global]\nbs=128k\nruntime=30\nioengine=libaio\niodepth=32\ntime_based=1\nwrite_hist_log=fio\nlog_hist_msec=10000\n\n" +
			"[job-/dev/sda]\nfilename=/dev/sda\nrw=randwrite\nnumjobs=2\n",
			&JobFile{
				Global: map[string]string{"bs": "128k", "runtime": "30", "ioengine": "libaio", "iodepth": "32", "time_based": "1", "write_hist_log": "fio", "log_hist_msec": "10000"},
				Sections: []JobSection{{Name: "job-/dev/sda", Line: 10, Options: map[string]string{"bs": "128k", "runtime": "30", "ioengine": "libaio", "iodepth": "32",
					"time_based": "1", "write_hist_log": "fio", "log_hist_msec": "10000", "filename": "/dev/sda", "rw": "randwrite", "numjobs": "2"}}},
			}},
		{"comments, blanks, flags, other names", "\ufeff; a comment\n# another\r\n\n  [global]  # one more\n\tblocksize = 4k ; not a value\n[a b]\ndirect\nreadwrite=randread\r\ntimeout=5",
			&JobFile{
				Global:   map[string]string{"bs": "4k"},
				Sections: []JobSection{{Name: "a b", Line: 6, Options: map[string]string{"bs": "4k", "direct": "", "rw": "randread", "runtime": "5"}}},
			}},
		{"global again", "[global]\nbs=4k\n[a]\n[global]\nbs=8k\n[b]\nbs=16k\n[c]\ninclude other.fio\n",
			&JobFile{Global: map[string]string{"bs": "8k"}, Sections: []JobSection{
				{Name: "a", Line: 3, Options: map[string]string{"bs": "4k"}}, {Name: "b", Line: 6, Options: map[string]string{"bs": "16k"}},
				{Name: "c", Line: 8, Options: map[string]string{"bs": "8k"}},
			}, Includes: true}},
		{"values as they are", "[j]\nfilename=/dev/a:/dev/b\nexec_prerun=a = b\nsize=${SIZE}\n",
			&JobFile{Global: map[string]string{}, Sections: []JobSection{
				{Name: "j", Line: 1, Options: map[string]string{"filename": "/dev/a:/dev/b", "exec_prerun": "a = b", "size": "${SIZE}"}},
			}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadJobFile(strings.NewReader(tt.text), "x.fio")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
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
	} {
		_, err := ReadJobFile(strings.NewReader(text), "x.fio")
		if bad := (*SyntaxError)(nil); !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	if _, err := ReadJobFile(failing{}, "x.fio"); err == nil || !strings.Contains(err.Error(), "read x.fio") {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("broken") }

// sizes are texts with the bytes that fio takes them for; 0 for those that fio2es does not read.
var sizes = map[string]int64{
	"4k": 4096, "4K": 4096, "4kb": 4096, "4ki": 4096, "4KiB": 4000, "4kib": 4000, "512": 512, "512b": 512, "4096B": 4096,
	"1m": 1 << 20, "1MiB": 1e6, "2g": 2 << 30, "3gib": 3e9, "1t": 1 << 40, "1tib": 1e12, "2p": 2 << 50, "1pib": 1e15,
	"4k,4k": 0, "4k-8k": 0, "": 0, "k": 0, "-4k": 0, "0": 0, "9999999p": 0, "4x": 0, "${BS}": 0, "4bk": 0, "4ib": 0, "4kk": 0,
	" 8k": 0, "1.5k": 0, "0x1000": 0, "4i": 0,
}

func TestParseSize(t *testing.T) {
	for text, want := range sizes {
		if got, ok := ParseSize(text); got != want || ok != (want > 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
}

// times are texts with the durations that fio takes them for; -1 for those that fio2es does not read.
var times = map[string]time.Duration{
	"30": 30 * time.Second, "5m": 5 * time.Minute, "5M": 5 * time.Minute, "30s": 30 * time.Second, "1500ms": 1500 * time.Millisecond,
	"7msec": 7 * time.Millisecond, "2h": 2 * time.Hour, "1d": 24 * time.Hour, "10us": 10 * time.Microsecond, "0": 0,
	"3usec": 3 * time.Microsecond, "2min": -1, "2sec": -1, "2hour": -1, "1day": -1, // microseconds to fio
	"": -1, "s": -1, "-1": -1, "5y": -1, "1.5": -1, "99999999999999999": -1, "1-3": -1, "1:30": -1,
}

func TestParseTime(t *testing.T) {
	for text, want := range times {
		if got, ok := ParseTime(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
}

// TestUnitsAsFio: fio takes sizes and times for the same.
func TestUnitsAsFio(t *testing.T) {
	fio, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("fio is not installed")
	}
	args, want := []string{"--parse-only", "--debug=parse"}, map[string]int64{}
	for text, size := range sizes {
		if size > 0 {
			args, want["size "+text] = append(args, "--name=a", "--size="+text), size
		}
	}
	for text, d := range times {
		if d >= 0 {
			args, want["runtime "+text] = append(args, "--name=a", "--runtime="+text), d.Microseconds()
		}
	}
	out, err := exec.CommandContext(t.Context(), fio, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	taken := regexp.MustCompile(`__handle_option=(\w+), .*ptr=(.*)\n.*ret=0, out=(\d+)`)
	for _, m := range taken.FindAllStringSubmatch(string(out), -1) {
		key := m[1] + " " + m[2]
		if n, ok := want[key]; ok && strconv.FormatInt(n, 10) != m[3] {
			t.Errorf("%s: fio takes %s, want %d", key, m[3], n)
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("fio took none of %v", want)
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
	for r, err := range ReadReports(strings.NewReader(string(out)), "fio") {
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Jobs) != len(ours.Sections) {
			t.Fatalf("fio has %d jobs, we have %d", len(r.Jobs), len(ours.Sections))
		}
		for i, j := range r.Jobs {
			if j.Name != ours.Sections[i].Name {
				t.Errorf("job %q, we have %q", j.Name, ours.Sections[i].Name)
			}
			for _, key := range slices.Sorted(maps.Keys(j.Options)) {
				if got := ours.Sections[i].Options[key]; got != strings.TrimSpace(j.Options[key]) {
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
			if bad := (*SyntaxError)(nil); !errors.As(err, &bad) || bad.Line < 1 || bad.Column < 1 {
				t.Fatalf("%v has no place", err)
			}
			return
		}
		for _, s := range got.Sections {
			if s.Name == "" || s.Line < 1 {
				t.Fatalf("section %+v", s)
			}
			for key, value := range s.Options {
				if key == "" || strings.ContainsAny(key+value, "\n;#") {
					t.Fatalf("option %q=%q", key, value)
				}
				ParseSize(value)
				ParseTime(value)
			}
		}
	})
}
