package fiolog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// maxLine is the longest line in bytes. The longest possible row has 4096 counts of 20 digits: 90 KB.
	maxLine = 96 << 10

	// A buffer begins with firstBuffer bytes, because all logs of a run are open at once and most may be short. It
	// grows with the log and with its lines, up to maxBuffer. To save memory it grows only to smallBuffer. maxBuffer is
	// larger than maxLine, so a line that is too long is found.
	firstBuffer = 8 << 10
	smallBuffer = 32 << 10
	maxBuffer   = 128 << 10
)

// maxStalledReads is how many times in a row a source may return neither bytes nor an error.
const maxStalledReads = 100

// lines splits a stream into lines without copying. It moves each byte at most once, to make room for the next block.
type lines struct {
	src      io.Reader
	name     string
	buf      []byte
	usual    int   // size to which buf grows with the log
	pos, end int   // buf[pos:end] is not consumed yet
	err      error // why no more can be read
	line     int   // lines consumed
	bytes    int64 // bytes of text read from src
}

// rest returns the bytes that were read and not consumed yet. It is valid until the next fill.
func (l *lines) rest() []byte { return l.buf[l.pos:l.end] }

// consume drops n bytes of rest, which are one line with its end.
func (l *lines) consume(n int) {
	l.pos += n
	l.line++
}

// needsMore reports whether rest may be only the beginning of a line.
func (l *lines) needsMore() bool {
	rest := l.rest()
	return l.err == nil && len(rest) <= maxLine && bytes.IndexByte(rest, '\n') < 0
}

// fill reads from src until the buffer has one more line end or is full. It returns false if it read nothing.
func (l *lines) fill() bool {
	if l.err != nil {
		return false
	}
	if l.pos > 0 {
		l.end = copy(l.buf, l.buf[l.pos:l.end])
		l.pos = 0
	}
	l.grow()
	before, stalled := l.end, 0
	for l.err == nil && l.end < len(l.buf) {
		n, err := l.src.Read(l.buf[l.end:])
		if n < 0 || n > len(l.buf)-l.end {
			n, err = 0, errors.New("the source claims to have read more than fits")
		}
		added := l.buf[l.end : l.end+n]
		l.end += n
		l.bytes += int64(n)
		if stalled++; n > 0 {
			stalled = 0
		} else if err == nil && stalled == maxStalledReads {
			err = io.ErrNoProgress
		}
		if l.err = err; err != nil && err != io.EOF {
			l.err = fmt.Errorf("read %s: %w", l.name, err)
		}
		if bytes.IndexByte(added, '\n') >= 0 {
			break
		}
	}
	return l.end > before
}

// grow enlarges the buffer if it is full, or too small for a log that is long.
func (l *lines) grow() {
	size := max(len(l.buf), firstBuffer)
	if l.end == len(l.buf) && l.end > 0 || l.bytes >= int64(size) && size < l.usual {
		size = min(2*size, maxBuffer)
	}
	if size > len(l.buf) {
		buf := make([]byte, size)
		copy(buf, l.buf[:l.end])
		l.buf = buf
	}
}

// next consumes one line and returns it with its end. A line without an end is the last of the file. If a line is
// longer than maxLine, next returns its first bytes, and long is true. The error is io.EOF or the error of src. A line
// that such an error cut short is dropped.
func (l *lines) next() (line []byte, long bool, err error) {
	for {
		rest := l.rest()
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			l.consume(i + 1)
			return rest[:i+1], i > maxLine, nil
		}
		if len(rest) > maxLine {
			return l.skipLong()
		}
		if l.fill() {
			continue
		}
		if l.err == io.EOF && len(rest) > 0 {
			l.consume(len(rest))
			return rest, false, nil
		}
		return nil, false, l.err
	}
}

// skipLong consumes the rest of a line that is too long. It returns the part of the line for an error: the first bytes,
// up to [zeroBytes] if there are some.
func (l *lines) skipLong() ([]byte, bool, error) {
	shown := max(maxQuoted+1, bytes.Index(l.rest(), zeroBytes)+len(zeroBytes))
	first := bytes.Clone(l.rest()[:shown])
	for {
		if i := bytes.IndexByte(l.rest(), '\n'); i >= 0 {
			l.consume(i + 1)
			return first, true, nil
		}
		l.pos = l.end
		if !l.fill() {
			if l.err != io.EOF {
				return nil, false, l.err
			}
			l.line++
			return first, true, nil
		}
	}
}
