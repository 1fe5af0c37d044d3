package cbt

import (
	"bytes"
	"io"

	"github.com/fio2es/fio2es/pipeline/source"
)

// isReport looks into a file that has no log beside it: it is fio's output if its first
// JSON document begins as fio's do. Text may come before it.
func isReport(f *source.File) bool {
	const most = 64 << 10
	in, err := f.Open()
	if err != nil {
		return false
	}
	defer in.Close()
	head, _ := io.ReadAll(io.LimitReader(in, most)) // of what is damaged the beginning may be good
	_, after, found := bytes.Cut(head, []byte{'{'})
	for found {
		if bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(`"fio version"`)) {
			return true
		}
		_, after, found = bytes.Cut(after, []byte{'{'})
	}
	return false
}
