package fiotest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	s := TreeSpec{Files: 5, Hosts: 2, Bytes: 500_000, Log: LogSpec{Seed: 7, Directions: []int{Read, Write}}}
	sum, err := s.WriteDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Files != 5 || sum.Logs != 5 || sum.Bytes != sum.LogBytes || sum.Bytes < s.Bytes || sum.Bytes > s.Bytes*11/10 {
		t.Errorf("summary %d files, %d logs, %d of %d bytes", sum.Files, sum.Logs, sum.LogBytes, sum.Bytes)
	}
	var all Truth
	for i := range 5 {
		got, err := os.ReadFile(filepath.Join(dir, s.Name(i)))
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		truth, err := s.Spec(i).Write(&want)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("log %d is not what its spec writes", i)
		}
		all.Merge(truth)
	}
	if all.Rows != sum.Truth.Rows || total(all.Whole(Write)) != total(sum.Truth.Whole(Write)) {
		t.Error("the summary is not the sum of the logs")
	}
}
