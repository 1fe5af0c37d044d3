package fiolog

import (
	"bytes"

	"github.com/fio2es/fio2es/hist"
)

// LastTime finds the last row of a histogram log, whose text is written to it. It reads only the times of the rows, and
// all of the last one. So it costs little beside another reading of the text, such as for a hash.
type LastTime struct {
	isBegun bool // newest is the time of a row
	newest  int64
	begun   []byte // a line whose end is not written yet
	last    []byte // the last line
	isOdd   bool   // only a Reader knows the last row
}

// longestGap is the longest time between rows, in ms, that is no reason to look closer.
const longestGap = 3600 * 1000

// Write takes the next part of the text. It never fails.
func (l *LastTime) Write(text []byte) (int, error) {
	written := len(text)
	var line []byte
	for !l.isOdd {
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			break
		}
		line, text = text[:i+1], text[i+1:]
		if len(l.begun) > 0 {
			l.begun = append(l.begun, line...)
			l.last, l.begun = l.begun, l.last[:0]
			line = l.last
		}
		l.see(line)
	}
	if len(line) > 0 {
		l.last = append(l.last[:0], line...)
	}
	if l.isOdd = l.isOdd || len(l.begun)+len(text) > maxBuffer; !l.isOdd {
		l.begun = append(l.begun, text...)
	}
	return written, nil
}

// see looks at the time of a line.
func (l *LastTime) see(line []byte) {
	t, n := shortNumber(line)
	at := int64(t)
	switch {
	case n == 0 || line[n] != ',' || t > latestTime:
		l.isOdd = true
	case l.isBegun && (at < l.newest || at > l.newest+longestGap):
		l.isOdd = true
	}
	l.newest, l.isBegun = at, true
}

// Row returns the last row of the log, the latest of a [Reader] with the same hint. It is nil if only a Reader knows
// that row: if a time falls or leaps, or the last line is damaged or has no end.
func (l *LastTime) Row(hint hist.Hint) *Record {
	if l.isOdd || len(l.begun) > 0 {
		return nil
	}
	r := NewReader(bytes.NewReader(l.last), "", ClatHist)
	r.SetHint(hint)
	row, err := r.Next()
	if err != nil {
		return nil
	}
	return row
}
