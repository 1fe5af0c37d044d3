package source

import (
	"archive/tar"
	"encoding/binary"
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

// modified is the time in a header of a zip without a usable directory.
func (h localHeader) modified() Modified {
	for tag, field := range extras(h.extra) {
		if tag == extraUnixTime && hasUnixTime(field) {
			seconds := int32(binary.LittleEndian.Uint32(field[1:]))
			return Modified{ModTime: time.Unix(int64(seconds), 0), ModStep: time.Second}
		}
	}
	if h.Date == 0 {
		return Modified{}
	}
	day := time.Date(int(h.Date>>9)+1980, time.Month(h.Date>>5&0xf), int(h.Date&0x1f),
		int(h.Clock>>11), int(h.Clock>>5&0x3f), int(h.Clock&0x1f)*2, 0, time.UTC)
	return Modified{ModTime: day, ModStep: 2 * time.Second, ModLocal: true}
}
