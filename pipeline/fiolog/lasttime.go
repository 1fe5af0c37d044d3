package fiolog

import (
	"bytes"

	"github.com/fio2es/fio2es/hist"
)

// LastTime finds the last row of a histogram log. It is a writer that gets the text of the log. It reads only the times
// of rows, and the last row completely. So it costs little beside another use of the text, such as a hash.
type LastTime struct {
	isBegun bool // newest is set
	newest  int64
	begun   []byte // a line whose end has not come yet
	last    []byte // the last line
	isOdd   bool   // only a Reader can find the last row
}

// longestGap is the longest plausible time between rows, in milliseconds. After a longer gap the log needs a Reader.
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

// see reads the time of a line.
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

// Newest returns the time of the last row in milliseconds, as written. ok is false if only a [Reader] can find that row.
func (l *LastTime) Newest() (ms int64, ok bool) { return l.newest, l.isBegun && !l.isOdd }

// Row returns the last row of the log, as a [Reader] with the same hint does. It returns nil if only a Reader can find
// that row. That is so if a time falls or leaps, or if the last line is damaged or has no end.
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
