package source

import (
	"archive/tar"
	"encoding/binary"
	"strings"
	"time"
)

// tarModified is when a member of a tar was changed. Only pax records have parts of a
// second. A tar made to be the same each time says 1970, which is no time of a file.
func tarModified(hdr *tar.Header) modified {
	if hdr.ModTime.Unix() <= 0 {
		return modified{}
	}
	m := modified{at: hdr.ModTime, step: time.Second}
	if strings.Contains(hdr.PAXRecords["mtime"], ".") {
		m.step = 0
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

// zipModified is when a member of a zip was changed, of which at is the best time that it
// has. Without an extra field that is a date and a time of day in an unknown zone, in
// steps of two seconds.
func zipModified(extra []byte, at time.Time) modified {
	if at.Year() < 1980 { // where DOS begins to count
		return modified{}
	}
	m := modified{at: at, step: 2 * time.Second, local: true}
	for len(extra) >= 4 {
		tag, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if size > len(extra)-4 {
			break
		}
		switch tag {
		case extraUnixTime, extraInfoUnix, extraUnixOld:
			m.local, m.step = false, min(m.step, time.Second)
		case extraNTFS:
			m.local, m.step = false, 0
		}
		extra = extra[4+size:]
	}
	return m
}

// modified is the time in a header of a zip without a usable directory.
func (h localHeader) modified() modified {
	day := time.Date(int(h.date>>9)+1980, time.Month(h.date>>5&0xf), int(h.date&0x1f),
		int(h.clock>>11), int(h.clock>>5&0x3f), int(h.clock&0x1f)*2, 0, time.UTC)
	for extra := h.extra; len(extra) >= 4; {
		tag, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if size > len(extra)-4 {
			break
		}
		// Flags, of which bit 0 says that the time of change follows, in seconds.
		if field := extra[4 : 4+size]; tag == extraUnixTime && size >= 5 && field[0]&1 == 1 {
			seconds := int32(binary.LittleEndian.Uint32(field[1:]))
			return modified{at: time.Unix(int64(seconds), 0), step: time.Second}
		}
		extra = extra[4+size:]
	}
	if h.date == 0 {
		return modified{}
	}
	return modified{at: day, step: 2 * time.Second, local: true}
}
