package fiolog

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Addresses of a 64-bit process are at least this, and no latency is: 2^40 ns are 18
// minutes.
const lowestAddress = 1 << 40

// begin reads the start of a file: it skips a byte order mark, and recognizes a log that
// fio stored compressed, also when something has already inflated it. why explains
// what that means for the kind of log.
func (l *lines) begin(why string) error {
	for l.end < 64 && l.fill() {
	}
	b := l.rest()
	if isZlib(b) || isSamples(b) {
		return fmt.Errorf("%s: %w: %s", l.name, ErrStoredCompressed, why)
	}
	if bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
		l.pos += 3
	}
	return nil
}

// isZlib recognizes the two bytes that begin a zlib stream (RFC 1950): a window of
// 32 KiB, which is what fio uses, and a checksum.
func isZlib(b []byte) bool {
	return len(b) >= 2 && b[0] == 0x78 && binary.BigEndian.Uint16(b)%31 == 0 && b[1]&0x20 == 0
}

// isSamples recognizes what such a stream holds: an array of fio's struct io_sample,
// which begins with two words of 64 bits, the time and the value or address. Their top
// bytes are zero, and a text has no such bytes.
func isSamples(b []byte) bool {
	if len(b) < 24 {
		return false
	}
	t, v := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	return t <= latestTime && v != 0 && v < 1<<56
}

// holdsAddress recognizes a row of an inflated histogram log: time, address, direction,
// block size and at most three more.
func holdsAddress(line []byte) bool {
	fields := bytes.Split(bytes.TrimSpace(line[:min(len(line), 128)]), []byte{','})
	if len(fields) < 4 || len(fields) > 7 {
		return false
	}
	address, ok := parseNumber(bytes.TrimSpace(fields[1]))
	return ok && address >= lowestAddress
}
