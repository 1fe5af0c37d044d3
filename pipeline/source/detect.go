package source

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// sniffLen is how many bytes detect needs to see: one tar header.
const sniffLen = 512

// kind is the format of a content.
type kind uint8

const (
	plain kind = iota
	gzipped
	zstded
	xzed
	bzipped
	tarred
	zipped
)

// compressed reports whether the kind wraps one stream of bytes.
func (k kind) compressed() bool { return k >= gzipped && k <= bzipped }

// isArchive reports whether the kind has members.
func (k kind) isArchive() bool { return k == tarred || k == zipped }

// detect finds the kind by the first bytes (up to sniffLen). Text, JSON and
// empty content are always plain.
func detect(head []byte) kind {
	switch {
	case len(head) >= 4 && string(head[:3]) == "\x1f\x8b\x08" && head[3]&0xe0 == 0:
		return gzipped
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return zstded
	case len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18":
		return zstded // a skippable frame: parallel compressors write one first
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return xzed
	case isBzip2(head):
		return bzipped
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return zipped
	case isTar(head):
		return tarred
	}
	return plain
}

// isBzip2 requires the magic of the first block too: "BZh1" alone could be text.
func isBzip2(head []byte) bool {
	if len(head) < 10 || string(head[:3]) != "BZh" || head[3] < '1' || head[3] > '9' {
		return false
	}
	block := string(head[4:10])
	return block == "\x31\x41\x59\x26\x53\x59" || block == "\x17\x72\x45\x38\x50\x90"
}

// isTar checks the header's own checksum, which every tar since v7 carries and
// text cannot have by chance. It requires a NUL as well.
func isTar(head []byte) bool {
	const sumAt, sumEnd = 148, 156
	if len(head) < sniffLen || head[0] == 0 || bytes.IndexByte(head, 0) < 0 {
		return false
	}
	field := strings.Trim(string(head[sumAt:sumEnd]), " \x00")
	want, err := strconv.ParseInt(field, 8, 64)
	if err != nil {
		return false
	}
	var unsigned, signed int64
	for i, c := range head[:sniffLen] {
		if i >= sumAt && i < sumEnd {
			c = ' '
		}
		unsigned += int64(c)
		signed += int64(int8(c))
	}
	return want == unsigned || want == signed // old tars summed signed chars
}

// IsArchive reports whether the file of that name is a tar or zip, compressed or not. It reads the beginning of the
// file. It returns false if that fails.
func IsArchive(name string) bool {
	f, err := openNow(name)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false // what is read of a pipe is gone
	}
	var r io.Reader = f
	for range maxLayers {
		buf := takeBuffer(r)
		head, _ := buf.Peek(sniffLen)
		k := detect(head)
		if !k.compressed() {
			return k.isArchive()
		}
		d, err := decode(k, buf)
		if err != nil {
			return false
		}
		defer d.Close()
		r = d
	}
	return false
}

// maxLayers is how many compressions IsArchive takes off.
const maxLayers = 4
