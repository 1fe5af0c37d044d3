package cbt

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/source"
)

// longReport makes a report of one job with n bytes of text, most of them the same.
func longReport(n int) string {
	head := `{"fio version": "fio-3.33", "timestamp_ms": 1700000000000, "jobs": [{"jobname": "a", "job_runtime": 1000, "x": "`
	return head + strings.Repeat("x", n-len(head)-5) + "\"}]}\n"
}

// readAll reads the reports of all files and returns how many were read of each, -1 where
// the file was refused.
func readAll(t *testing.T, b *Budget, files []*source.File) []int {
	t.Helper()
	var all []int
	for _, f := range files {
		in, err := f.Open()
		must(t, err)
		n := 0
		for _, err := range b.Reports(in, f) {
			switch {
			case errors.Is(err, ErrBudget):
				if !strings.HasPrefix(err.Error(), f.Name()+": not read: ") || !strings.Contains(err.Error(), "unpack") {
					t.Errorf("refused with %q", err)
				}
				n = -1
			case err != nil:
				t.Error(err)
			default:
				n++
			}
		}
		all = append(all, n)
		must(t, in.Close())
	}
	return all
}

// Packed reports may have so much text, which follows from the packed size. Files in a
// folder may have any.
func TestTextBudget(t *testing.T) {
	const mb = 1 << 20
	logs := tree{}
	for i := range 6 {
		logs[fmt.Sprintf("%d/out.json", i)] = longReport(mb)
	}
	bomb := tree{"0/out.json": longReport(20 * mb), "1/out.json": longReport(mb), "2/out.json": longReport(mb)}
	tests := []struct {
		name  string
		files []*source.File
		want  []int
		text  int64
	}{
		{"a folder", scan(t, logs.write(t, "lab")), []int{1, 1, 1, 1, 1, 1}, 0},
		{"an archive", scan(t, logs.pack(t, "lab")), []int{1, 1, 1, 1, -1, -1}, 4 * mb},
		{"one that is too large, and others", scan(t, bomb.pack(t, "lab")), []int{-1, 1, 1}, 2 * mb},
		{"packed files", scan(t, gzipEach(t, bomb)), []int{-1, -1, -1}, 5 * mb},
		{"packed files that are too many", scan(t, gzipEach(t, logs)), []int{1, 1, 1, 1, -1, -1}, 5 * mb},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &Budget{freeText: 4*mb + mb/4}
			for pass := range 2 { // a file that is read again costs nothing
				if got := readAll(t, b, tt.files); fmt.Sprint(got) != fmt.Sprint(tt.want) {
					t.Errorf("pass %d: reports of each file %v, want %v", pass, got, tt.want)
				}
			}
			const pieces = mb // what is read in one go, and what the packed size gives
			if got := b.Text(); got < tt.text-pieces || got > tt.text+pieces {
				t.Errorf("%d bytes of text were read, want about %d", got, tt.text)
			}
		})
	}
}

// A larger packed size lets more text be read: 50 bytes for each.
func TestTextBudgetFollowsPackedSize(t *testing.T) {
	f := scan(t, gzipEach(t, tree{"out.json": longReport(1 << 20)}))[0]
	b := &Budget{freeText: 1000}
	if got, want := b.mostText(f), 1000+50*f.PackedFrom(); got != want || f.PackedFrom() == 0 {
		t.Errorf("%d bytes of text for %d packed ones, want %d", got, f.PackedFrom(), want)
	}
}

// Packed reports of one content are found as far as their text may be read; in a folder, all are.
func TestTextBudgetOfCopies(t *testing.T) {
	const mb = 1 << 20
	copies := tree{}
	for i := range 5 {
		copies[fmt.Sprintf("%d/out.json", i)] = longReport(mb) + `{"timestamp_ms": 1711111111111}`
	}
	for _, tt := range []struct {
		name  string
		files []*source.File
		want  []bool
	}{
		{"a folder", scan(t, copies.write(t, "lab")), []bool{true, true, true, true}},
		{"an archive", scan(t, copies.pack(t, "lab")), []bool{true, true, false, false}},
	} {
		d := newComparer(&Budget{freeText: 3*mb + mb/2})
		for i, want := range tt.want {
			if got := d.sameReport(tt.files[0], tt.files[i+1]); got != want {
				t.Errorf("%s: file %d is a copy: %v", tt.name, i+1, got)
			}
		}
	}
}

// gzipEach writes a folder in which each file is packed separately.
func gzipEach(t *testing.T, files tree) string {
	t.Helper()
	root := t.TempDir()
	for p, content := range files {
		name := filepath.Join(root, filepath.FromSlash(p)+".gz")
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		f, err := os.Create(name)
		must(t, err)
		z := gzip.NewWriter(f)
		_, err = io.WriteString(z, content)
		must(t, err)
		must(t, z.Close())
		must(t, f.Close())
	}
	return root
}

// The only report of a file is parsed once for its options and for the plan. Then it is the
// plan's, which may change it, so others read the file.
func TestKeptReport(t *testing.T) {
	files := scan(t, tree{"one/out.json": longReport(1000), "two/out.json": longReport(1000) + longReport(1000)}.write(t, "lab"))
	for i, f := range files {
		b, text := new(Budget), longReport(1000)
		read := func(keep bool) (reports int, used int64) {
			in := strings.NewReader(strings.Repeat(text, i+1))
			for _, err := range b.reports(in, f, keep) {
				must(t, err)
				reports++
			}
			return reports, in.Size() - int64(in.Len())
		}
		for pass, want := range []struct {
			keep, isRead bool
		}{{true, true}, {false, i > 0}, {false, true}} {
			if n, used := read(want.keep); n != i+1 || used > 0 != want.isRead {
				t.Errorf("%s, pass %d: %d reports, and %d bytes were read, want reading %v", f.Name(), pass, n, used, want.isRead)
			}
		}
	}
}
