package source

import (
	"archive/tar"
	"encoding/binary"
	"iter"
	"strings"
	"time"
)

// tarModified returns when a member of a tar was changed. Only pax records have parts of a second. A reproducible tar
// has 1970 as the time of all files, so that is not a time.
func tarModified(hdr *tar.Header) Modified {
	if hdr.ModTime.Unix() <= 0 {
		return Modified{}
	}
	m := Modified{ModTime: hdr.ModTime, ModStep: time.Second}
	if strings.Contains(hdr.PAXRecords["mtime"], ".") {
		m.ModStep = 0
	}
	return m
}

// The extra fields of a zip that have a time: of Unix, in whole seconds, and of NTFS.
const (
	extraUnixTime = 0x5455
	extraInfoUnix = 0x5855
	extraUnixOld  = 0x000d
	extraNTFS     = 0x000a
)

// zipModified returns when a member of a zip was changed. at is the best time in its header. Without an extra field,
// that is a date and a time of day in an unknown zone, in steps of two seconds.
func zipModified(extra []byte, at time.Time) Modified {
	if at.Year() < 1980 { // where DOS begins to count
		return Modified{}
	}
	m := Modified{ModTime: at, ModStep: 2 * time.Second, ModLocal: true}
	for tag, field := range extras(extra) {
		const oldTimes, ntfsTimes = 8, 32 // bytes at least
		switch {
		case tag == extraUnixTime && hasUnixTime(field), (tag == extraInfoUnix || tag == extraUnixOld) && len(field) >= oldTimes:
			m.ModLocal, m.ModStep = false, min(m.ModStep, time.Second)
		case tag == extraNTFS && len(field) >= ntfsTimes:
			m.ModLocal, m.ModStep = false, 0
		}
	}
	return m
}

// hasUnixTime reports whether an extra field of Unix has the time of change: bit 0 of its flags says so. It may have
// other times only, or none.
func hasUnixTime(field []byte) bool { return len(field) >= 5 && field[0]&1 == 1 }

// extras iterates over the extra fields of a member of a zip.
func extras(b []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(tag uint16, field []byte) bool) {
		for len(b) >= 4 {
			tag, size := binary.LittleEndian.Uint16(b), int(binary.LittleEndian.Uint16(b[2:]))
			if size > len(b)-4 || !yield(tag, b[4:4+size]) {
				return
			}
			b = b[4+size:]
		}
	}
}
