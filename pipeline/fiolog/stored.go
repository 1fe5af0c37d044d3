package fiolog

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Addresses of a 64-bit process are at least this, and no latency is: 2^40 ns are 18
// minutes.
const lowestAddress = 1 << 40

// begin reads the start of a file. It skips a byte order mark and recognizes a log that
// fio stored compressed, also if something has already inflated it.
func (l *lines) begin(kind Kind) error {
	for l.end < 64 && l.fill() {
	}
	b := l.rest()
	if isZlib(b) || isSamples(b) {
		why := "`fio --inflate-log` makes a text of it"
		if kind.IsHistogram() {
			why = "fio wrote addresses of its memory there instead of the counts, which are lost"
		}
		return fmt.Errorf("%s: %w: %s", l.name, ErrStoredCompressed, why)
	}
	if bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
		l.pos += 3
	}
	return nil
}

// isZlib recognizes the first two bytes of a zlib stream (RFC 1950): a window of 32 KiB,
// which fio uses, and a checksum.
func isZlib(b []byte) bool {
	return len(b) >= 2 && b[0] == 0x78 && binary.BigEndian.Uint16(b)%31 == 0 && b[1]&0x20 == 0
}

// isSamples recognizes the content of such a stream: an array of fio's struct io_sample,
// which begins with two words of 64 bits, the time and the value or address. Their top
// bytes are zero. A text has no such bytes.
func isSamples(b []byte) bool {
	if len(b) < 24 {
		return false
	}
	t, v := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	return t <= latestTime && v != 0 && v < 1<<56
}

// isAddressRow recognizes a row of an inflated histogram log: time, address, direction,
// block size and at most three more.
func isAddressRow(line []byte) bool {
	fields := bytes.Split(bytes.TrimSpace(line[:min(len(line), 128)]), []byte{','})
	if len(fields) < 4 || len(fields) > 7 {
		return false
	}
	address, ok := parseNumber(bytes.TrimSpace(fields[1]))
	return ok && address >= lowestAddress
}
