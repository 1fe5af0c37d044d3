package fiolog_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

func readRaw(src io.Reader) (rows []fiolog.Record, faults []string, final error) {
	r := fiolog.NewReader(src, "x.log", fiolog.Clat)
	for {
		rec, err := r.Next()
		switch bad := (*fiolog.SyntaxError)(nil); {
		case errors.As(err, &bad):
			faults = append(faults, err.Error())
		case err != nil:
			return rows, faults, err
		default:
			rows = append(rows, *rec)
		}
	}
}

func TestRawRows(t *testing.T) {
	tests := []struct {
		name, line string
		want       fiolog.Record
		fault      string
	}{
		{"fio 2", "17, 150, 1, 4096\n", fiolog.Record{Time: 17, Value: 150, Direction: fiolog.Write, BlockSize: 4096, Line: 1}, ""},
		{"with a priority class", "17, 153868, 0, 4096, 0\n", fiolog.Record{Time: 17, Value: 153868, BlockSize: 4096, Line: 1, IsFio3: true}, ""},
		{"with a priority", "17, 153868, 2, 4096, 0x4004\r\n", fiolog.Record{Time: 17, Value: 153868, Direction: fiolog.Trim, BlockSize: 4096, Line: 1}, ""},
		{"with offset, priority, issue time", "17, 153868, 0, 4096, 81920, 0, 123456\n", fiolog.Record{Time: 17, Value: 153868, BlockSize: 4096, Line: 1, IsFio3: true}, ""},
		{"with offset", "17, 153868, 0, 4096, 81920\n", fiolog.Record{Time: 17, Value: 153868, BlockSize: 4096, Line: 1}, ""},
		{"mean and maximum", "1000, 150, 9000, 1, 0, 0\n", fiolog.Record{Time: 1000, Value: 150, Direction: fiolog.Write, Averaged: true, Line: 1, IsFio3: true}, ""},
		{"tabs", "17\t, 150 ,1,\t4096 \n", fiolog.Record{Time: 17, Value: 150, Direction: fiolog.Write, BlockSize: 4096, Line: 1}, ""},
		{"large value", "17, 9223372036854775807, 1, 0\n", fiolog.Record{Time: 17, Value: 1<<63 - 1, Direction: fiolog.Write, Line: 1}, ""},
		{"value too large", "17, 9223372036854775808, 1, 0\n", fiolog.Record{}, `x.log:1:5: got "9223372036854775808", want a value`},
		{"negative", "17, -5, 1, 4096\n", fiolog.Record{}, `x.log:1:5: got "-5", want a value`},
		{"direction", "17, 5, 3, 4096\n", fiolog.Record{}, `x.log:1:8: got "3", want a direction: 0 (read), 1 (write) or 2 (trim)`},
		{"three columns", "17, 5, 1\n", fiolog.Record{}, `x.log:1:9: got 3 columns, want 4 to 8`},
		{"histogram", "17, 1, 4096" + strings.Repeat(", 0", 29) + "\n", fiolog.Record{}, `x.log:1:99: got 32 columns, want 4 to 8`},
		{"text", "hello\n", fiolog.Record{}, `x.log:1:1: got "hello", want a time in ms`},
		{"time", "999999999999999, 1, 1, 0\n", fiolog.Record{}, `x.log:1:1: got "999999999999999", want a time before the year 10000, in ms`},
		{"cut", "17, 153868, 0, 4096, 0\n18, 1", fiolog.Record{Time: 17, Value: 153868, BlockSize: 4096, Line: 1, IsFio3: true}, `x.log:2:6: got the end of the file, want the end of the line`},
		{"cut after a comma", "\n18, ", fiolog.Record{}, `x.log:2:4: got the end of the file, want the end of the line`},
		{"bad and cut", "18, x, 0", fiolog.Record{}, `x.log:1:5: got "x", want a value`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, faults, err := readRaw(strings.NewReader(tt.line))
			rows, faults = append(rows, fiolog.Record{}), append(faults, "")
			if !cmp.Equal(rows[0], tt.want, sameLayout) || faults[0] != tt.fault || err != io.EOF {
				t.Errorf("got %+v, %q, %v, want %+v, %q", rows[0], faults[0], err, tt.want, tt.fault)
			}
		})
	}
}

func TestRawJobs(t *testing.T) {
	rows, faults, err := readRaw(bytes.NewReader(golden.Gunzip(t, filepath.Join("testdata", "raw-one-file.log.gz"))))
	if len(rows) != 450 || len(faults) > 0 || err != io.EOF {
		t.Fatalf("got %d rows, %q, %v, want 450", len(rows), faults, err)
	}
	var jobs []int
	for _, r := range rows {
		if r.NewJob {
			jobs = append(jobs, r.Line)
		}
	}
	if d := cmp.Diff([]int{151, 301}, jobs); d != "" {
		t.Errorf("new jobs (-want +got):\n%s", d)
	}
}

func TestRawGivesUp(t *testing.T) {
	for _, tt := range []struct {
		log  string
		want error
	}{
		{junk(5000), fiolog.ErrNotLog},
		{strings.Repeat("x", 2<<20), fiolog.ErrNotLog},
		{"x\x9c" + junk(100), fiolog.ErrStoredCompressed},
	} {
		rows, _, err := readRaw(strings.NewReader(tt.log))
		if len(rows) > 0 || !errors.Is(err, tt.want) {
			t.Errorf("got %d rows and %v, want %v", len(rows), err, tt.want)
		}
	}
}

func BenchmarkRawReader(b *testing.B) {
	log := repeat(golden.Gunzip(b, filepath.Join("testdata", "raw-one-file.log.gz")), 8<<20)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		r := fiolog.NewReader(bytes.NewReader(log), "x.log", fiolog.Clat)
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func FuzzRaw(f *testing.F) {
	f.Add("17, 153868, 0, 4096, 0\n18, 1, 9, 1, 0, 0x0004\n", 3)
	f.Add("\xef\xbb\xbf17,\t153868, 0, 4096\r\n\n18, -1, 0, 0\n18, 1, 0", 1)
	f.Fuzz(func(t *testing.T, s string, step int) {
		want, wantFaults, wantErr := readRaw(strings.NewReader(s))
		src := strings.NewReader(s)
		step = min(max(step, 1), 1<<20)
		got, faults, err := readRaw(readerFunc(func(p []byte) (int, error) { return src.Read(p[:min(step, len(p))]) }))
		if !cmp.Equal(got, want, sameLayout) || !cmp.Equal(faults, wantFaults) || (err == io.EOF) != (wantErr == io.EOF) {
			t.Fatalf("in pieces of %d: %v, %q, %v; at once: %v, %q, %v", step, got, faults, err, want, wantFaults, wantErr)
		}
		for _, r := range got {
			if r.Direction >= fiolog.Directions || r.Value < 0 || r.Time < 0 {
				t.Fatalf("%q gives %+v", s, r)
			}
		}
	})
}
