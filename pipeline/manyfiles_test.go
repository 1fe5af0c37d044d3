package pipeline_test

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/source"
)

// tarred makes a tar, on standard input, of n files.
func tarred(n int, name, text func(i int) string) io.Reader {
	return tarOf(n, func(i int) (*tar.Header, string) {
		body := text(i)
		return &tar.Header{Name: name(i), Size: int64(len(body)), Mode: 0o644}, body
	})
}

// manyMembers makes a tar, on standard input, of n empty members of one kind.
func manyMembers(n int, kind byte, name func(i int) string) io.Reader {
	return tarOf(n, func(i int) (*tar.Header, string) {
		return &tar.Header{Name: name(i), Typeflag: kind, Linkname: "x", Mode: 0o644}, ""
	})
}

func tarOf(n int, member func(i int) (*tar.Header, string)) io.Reader {
	r, w := io.Pipe()
	go func() {
		tw := tar.NewWriter(w)
		for i := range n {
			header, text := member(i)
			if tw.WriteHeader(header) != nil {
				break // the reader has had enough
			}
			_, _ = io.WriteString(tw, text)
		}
		tw.Close()
		w.Close()
	}()
	return r
}

// TestManyMembers reads archives of very many files; with FIO2ES_TEST_SCALE=1 also of more than are read.
func TestManyMembers(t *testing.T) {
	logs, links, copies := memtest.Scale(8000, 190_000), memtest.Scale(4000, 1_000_000), memtest.Scale(4000, 100_000)
	beyond, long := memtest.Scale(0, 1_000_000), strings.Repeat("d/", 1900)
	log := func(i int) string {
		return fmt.Sprintf("results/00000000/id-7c1f03ab/output.%d_clat_hist.1.log.h%d", i/10, i%10)
	}
	isRefused := func(_ *pipeline.Archive, err error) bool { return errors.Is(err, source.ErrTooMuch) }
	tests := []struct {
		name    string
		members int // 0: only with FIO2ES_TEST_SCALE
		kind    byte
		path    func(i int) string
		most    int64 // bytes
		check   func(a *pipeline.Archive, err error) bool
	}{
		{"more logs than are read", beyond, tar.TypeReg, log, 500 << 20, isRefused},
		{"as many logs as are read", logs, tar.TypeReg, log, 700 << 20, func(a *pipeline.Archive, err error) bool { return err == nil && len(a.Runs[0].Logs) == logs }},
		{"more folders than are read", beyond, tar.TypeReg, func(i int) string { return fmt.Sprintf("%d/x.json", i) }, 500 << 20, isRefused},
		{"long names", beyond / 25, tar.TypeReg, func(i int) string { return long + log(i) }, 500 << 20, isRefused},
		{"many links", links, tar.TypeSymlink, log, 500 << 20, func(a *pipeline.Archive, err error) bool {
			return err == nil && len(a.Problems) == 10 && strings.Contains(a.Problems[9].Error(), fmt.Sprintf("link is not followed: to x (and %d more like this)", links-10))
		}},
		{"copies of logs", copies, tar.TypeReg, func(i int) string { return fmt.Sprintf("a/x_clat_hist.%d.log.bak", i+1) }, 500 << 20, func(a *pipeline.Archive, err error) bool {
			return err == nil && len(a.Left) == 10 && a.Left[9].More == copies-10
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.members == 0 {
				memtest.Large(t)
			}
			in := manyMembers(tt.members, tt.kind, tt.path)
			var a *pipeline.Archive
			var err error
			used := memtest.Measure(t, func() { a, err = pipeline.Open(context.Background(), []string{"-"}, in, nil) })
			t.Logf("%d MB, %v: %v", used.Peak>>20, used.Time, err)
			if !tt.check(a, err) {
				t.Errorf("error %v", err)
				if a != nil {
					t.Errorf("%d runs, %d left, problems %v", len(a.Runs), len(a.Left), a.Problems[max(len(a.Problems)-2, 0):])
				}
			}
			if used.Peak > tt.most || used.Time > 2*time.Minute {
				t.Errorf("it took %d bytes and %v", used.Peak, used.Time)
			}
			if a != nil {
				a.Close()
			}
		})
	}
}
