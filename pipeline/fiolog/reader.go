package fiolog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/fio2es/fio2es/hist"
)

// Direction is the kind of a request. The values are the numbers that fio writes.
type Direction uint8

// The directions whose latencies fio measures.
const (
	Read  Direction = 0
	Write Direction = 1
	Trim  Direction = 2
)

// Directions is the number of directions that logs have, for arrays indexed by them.
const Directions = 3

// Sync stands for fsync, fdatasync and sync_file_range. fio measures them apart from the requests of the directions: its
// reports have them, and its logs do not.
const Sync Direction = Directions

// WithSync is the number of directions with [Sync], for arrays indexed by them.
const WithSync = Directions + 1

var directionNames = [WithSync]string{"read", "write", "trim", "sync"}

// String returns fio's name: "read", "write", "trim" or "sync".
func (d Direction) String() string {
	if d < WithSync {
		return directionNames[d]
	}
	return "unknown"
}

// Record is one row of a log. It belongs to the [Reader] and is valid until the next call. [Record.Clone] makes a copy.
//
// A row of a histogram log has the requests of one job and direction that completed within one interval. A row of any
// other log has one completion, or one average in logs with log_avg_msec and in bw and iops logs.
type Record struct {
	// Time is in milliseconds, as written: since the start of the job, or since 1970 with log_unix_epoch. It is the
	// time of the completion, or the END of an interval. The interval begins at the previous row of the same job and
	// direction. The first interval begins with the job.
	Time int64

	Direction Direction

	// BlockSize is in bytes; 0 for averages. In a histogram log it is the size of the one request whose completion
	// ended the interval. It says nothing about the other requests.
	BlockSize uint64

	Line int // in the file, 1-based

	// NewJob marks the first row of each job after the first, in a file of several jobs (per_job_logs=0). The file does
	// not name the jobs.
	NewJob bool

	// Fields of histogram logs.
	Bins   []hist.Bin  // the bins that are not zero, ascending; none for an idle interval
	Total  uint64      // the sum of their counts, at most 2^64-1
	Layout hist.Layout // the same for all rows of a file

	// Fields of all other logs.
	Value    int64 // latency in ns (fio 2: in us), or KiB/s in bw and requests/s in iops logs
	Averaged bool  // Value is the mean, and the row has the maximum, too (log_window_value=both)

	// IsFio3 means that the row has the columns of fio 3.20 or later. Without it, fio 2 may have written the row.
	IsFio3 bool
}

// Clone returns a copy that shares no memory with the reader.
func (r *Record) Clone() *Record {
	c := *r
	c.Bins = append([]hist.Bin(nil), r.Bins...)
	return &c
}

const (
	// patience is how many bad lines before the first row mean that a file is not a log. patientBytes is the same limit
	// for a file that is a single line without an end.
	patience     = 8
	patientBytes = 1 << 20

	// maxLine is the longest line in bytes. The longest possible row has 4096 counts of 20 digits: 90 KB.
	maxLine = 96 << 10

	// A buffer begins with firstBuffer bytes, because all logs of a run are open at once and most may be short. It
	// grows with the log and with its lines, up to maxBuffer. To save memory it grows only to smallBuffer. maxBuffer is
	// larger than maxLine, so a line that is too long is found.
	firstBuffer = 8 << 10
	smallBuffer = 32 << 10
	maxBuffer   = 128 << 10
)

// Reader reads the rows of one log. It is not safe for concurrent use.
type Reader struct {
	// Hint is what is known of the layout of a histogram log besides its columns: from fio's report ([Report.Hint]) or
	// from the user. Set it before the first row is read.
	Hint hist.Hint

	src      io.Reader
	name     string // for errors
	kind     Kind
	buf      []byte
	usual    int   // size to which buf grows with the log
	pos, end int   // buf[pos:end] is not consumed yet
	line     int   // lines consumed
	read     int64 // bytes of text read from src
	readErr  error // why no more can be read

	started bool
	rec     Record
	rows    int64 // returned
	skipped int64 // reported as a *SyntaxError
	err     error // final

	// Of histogram logs.
	row    row
	bins   *binBuffer             // nil between rows
	kept   [Directions][]hist.Bin // of the last row of each direction
	order  order
	layout fileLayout

	start, newest int64 // of all other logs: the first and the latest time of the job
}

// fileLayout is the layout of all rows of a histogram log.
type fileLayout struct {
	known bool
	hist.Layout
	columns int
	real    int // bins that can have requests
	line    int // the first line that has it
}

// NewReader returns a reader of a log of a kind. name is the name for errors.
func NewReader(src io.Reader, name string, kind Kind) *Reader {
	r := &Reader{}
	r.Reset(src, name, kind)
	return r
}

// Reset makes the reader read another log with the same memory.
func (r *Reader) Reset(src io.Reader, name string, kind Kind) {
	*r = Reader{src: src, name: name, kind: kind, buf: r.buf, usual: maxBuffer, kept: r.kept}
}

// SaveMemory makes the reader use about 30 KiB instead of 130. Reading takes a tenth more time. Call it before the
// first row is read.
func (r *Reader) SaveMemory() { r.usual = smallBuffer }

// binBuffers are shared by all readers, because one has 64 KiB and most rows have few bins.
var binBuffers = sync.Pool{New: func() any { return new(binBuffer) }}

// Next returns the next row. A [*SyntaxError] means that a line is skipped: call Next again for the lines after it. Any
// other error is final: io.EOF at the end, [ErrNotLog], [ErrStoredCompressed], a [*hist.LayoutError] if the columns fit
// no layout or several, or the error of the source.
func (r *Reader) Next() (*Record, error) {
	isHistogram := r.kind.IsHistogram()
	if isHistogram {
		r.bins = binBuffers.Get().(*binBuffer)
		defer func() {
			binBuffers.Put(r.bins)
			r.bins = nil
		}()
	}
	if !r.started {
		r.started = true
		r.begin()
	}
	for r.err == nil {
		rest := r.buf[r.pos:r.end]
		length := 0
		if isHistogram {
			length = parseFast(rest, r.bins, &r.row)
		} else {
			length = parseRawFast(rest, &r.rec)
		}
		end, isComplete := length, true
		var bad *SyntaxError
		if length > 0 {
			r.pos += length
			r.line++
		} else if bytes.IndexByte(rest, '\n') < 0 && len(rest) <= maxLine && r.fill() {
			continue // rest was only the beginning of a line
		} else {
			end, isComplete, bad = r.slow()
		}
		if bad == nil && isHistogram && end > 0 {
			bad = r.check(end, isComplete)
		}
		switch {
		case r.err != nil:
		case bad != nil:
			if r.skipped++; r.rows == 0 && r.skipped == patience {
				what := "a row"
				if isHistogram {
					what = "a row of a histogram log"
				}
				r.err = fmt.Errorf("%v: %w: none of its first %d lines is %s", bad, ErrNotLog, patience, what)
			}
			return nil, bad
		case end > 0:
			if !isHistogram {
				// The next job begins where a time falls by a second or more, to within a second of the first time.
				// Smaller falls are rows out of order, and jobs are longer.
				const leastFall, nearStart = 1000, 1000 // ms
				t := r.rec.Time
				r.rec.NewJob = r.rows > 0 && r.newest-t >= leastFall && t <= r.start+nearStart
				if r.rows == 0 || r.rec.NewJob {
					r.start, r.newest = t, t
				}
				r.newest = max(r.newest, t)
			}
			r.rec.Line = r.line
			r.rows++
			return &r.rec, nil
		}
	}
	return nil, r.err
}

// begin reads the start of a file. It skips a byte order mark and recognizes a log that fio stored compressed.
func (r *Reader) begin() {
	for r.end < 64 && r.fill() {
	}
	b := r.buf[r.pos:r.end]
	// A zlib stream (RFC 1950) begins with a window of 32 KiB, which fio uses, and a checksum.
	isZlib := len(b) >= 2 && b[0] == 0x78 && binary.BigEndian.Uint16(b)%31 == 0 && b[1]&0x20 == 0
	// Its content is an array of fio's struct io_sample, which begins with two words of 64 bits: the time, and the value
	// or address. Their top bytes are zero. A text has no such bytes.
	isSamples := false
	if len(b) >= 24 {
		t, v := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		isSamples = t <= latestTime && v != 0 && v < 1<<56
	}
	switch {
	case (isZlib || isSamples) && r.kind.IsHistogram():
		r.err = fmt.Errorf("%s: %w: fio wrote addresses of its memory there instead of the counts, which are lost",
			r.name, ErrStoredCompressed)
	case isZlib || isSamples:
		r.err = fmt.Errorf("%s: %w: `fio --inflate-log` makes a text of it", r.name, ErrStoredCompressed)
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		r.pos += 3
	}
}

// fill reads from src until the buffer has one more line end or is full. It moves unread bytes to the front, so each
// byte is moved at most once. It returns false if it read nothing.
func (r *Reader) fill() bool {
	if r.readErr != nil {
		return false
	}
	if r.pos > 0 {
		r.end = copy(r.buf, r.buf[r.pos:r.end])
		r.pos = 0
	}
	// The buffer grows if it is full, or too small for a log that is long.
	size := max(len(r.buf), firstBuffer)
	if r.end == len(r.buf) && r.end > 0 || r.read >= int64(size) && size < r.usual {
		size = min(2*size, maxBuffer)
	}
	if size > len(r.buf) {
		buf := make([]byte, size)
		copy(buf, r.buf[:r.end])
		r.buf = buf
	}
	const mostStalled = 100 // reads in a row that return neither bytes nor an error
	before, stalled := r.end, 0
	for r.readErr == nil && r.end < len(r.buf) {
		n, err := r.src.Read(r.buf[r.end:])
		if n < 0 || n > len(r.buf)-r.end {
			n, err = 0, errors.New("the source claims to have read more than fits")
		}
		added := r.buf[r.end : r.end+n]
		r.end += n
		r.read += int64(n)
		if stalled++; n > 0 {
			stalled = 0
		} else if err == nil && stalled == mostStalled {
			err = io.ErrNoProgress
		}
		if r.readErr = err; err != nil && err != io.EOF {
			r.readErr = fmt.Errorf("read %s: %w", r.name, err)
		}
		if bytes.IndexByte(added, '\n') >= 0 {
			break
		}
	}
	return r.end > before
}

// readLine consumes one line and returns it with its end. A line without an end is the last of the file. Of a line
// longer than maxLine it returns a part for an error: the first bytes, up to [zeroBytes] if there are some. The error
// is io.EOF or that of the source. A line that the source's error cut short is dropped.
func (r *Reader) readLine() (line []byte, isLong bool, err error) {
	for {
		rest := r.buf[r.pos:r.end]
		newline := bytes.IndexByte(rest, '\n')
		if newline >= 0 {
			rest = rest[:newline+1]
		}
		if !isLong && len(rest) > maxLine {
			isLong = true
			line = bytes.Clone(rest[:max(maxQuoted+1, bytes.Index(rest, zeroBytes)+len(zeroBytes))])
		}
		if newline < 0 {
			if isLong {
				r.pos = r.end
			}
			if r.fill() {
				continue
			}
			if r.readErr != io.EOF || len(rest) == 0 && !isLong {
				return nil, false, r.readErr
			}
			r.pos = r.end
		} else {
			r.pos += len(rest)
		}
		r.line++
		if isLong {
			return line, true, nil
		}
		return rest, false, nil
	}
}

// slow reads a line in any other form than fio's own. end is the column of the line's end; 0 for a blank line, and
// where reading ends (r.err). A line is incomplete if the file ends within it.
func (r *Reader) slow() (end int, isComplete bool, bad *SyntaxError) {
	line, isLong, err := r.readLine()
	switch {
	case err != nil:
		r.err = err
		return 0, false, nil
	case isLong && r.rows == 0 && r.read > patientBytes:
		r.err = fmt.Errorf("%s: %w: it begins with %s", r.name, ErrNotLog, quoted(line))
		return 0, false, nil
	case isLong && bytes.Contains(line, zeroBytes):
		zeros := bytes.Index(line, zeroBytes)
		return 0, true, r.bad(zeros+1, quoted(line[zeros:]), "a count", false)
	case isLong:
		got := fmt.Sprintf("more than %d bytes that begin with %s", maxLine, quoted(line))
		return 0, true, r.bad(1, got, "a row", false)
	}
	text := bytes.TrimRight(line, " \t\r\n")
	if len(bytes.TrimSpace(text)) == 0 {
		return 0, true, nil
	}
	isComplete = line[len(line)-1] == '\n'
	end = len(text) + 1
	var f fault
	var ok bool
	if r.kind.IsHistogram() {
		f, ok = parseSlow(text, r.bins, &r.row)
		if r.rows == 0 && isAddressRow(line) {
			r.err = fmt.Errorf("%s:%d: %w: column 2 is an address of fio's memory, where a histogram was; its "+
				"counts are lost", r.name, r.line, ErrStoredCompressed)
			return 0, isComplete, nil
		}
	} else {
		f, ok = parseRaw(text, &r.rec)
		if !isComplete && (ok || f.column >= end) { // the last number may be cut short, or columns be missing
			f, ok = fault{end, "", "the end of the line"}, false
		}
	}
	switch {
	case ok:
		return end, isComplete, nil
	case !isComplete && f.column >= end:
		return end, false, r.bad(end, "the end of the file", f.want, true)
	}
	return end, isComplete, r.bad(f.column, f.got, f.want, !isComplete)
}

// check judges a row of a histogram log whose numbers are good. It may refuse an incomplete one. end is the column of
// the line's end. The first rows decide the layout of the file. If they fit several layouts, check sets r.err.
func (r *Reader) check(end int, isComplete bool) *SyntaxError {
	row, n := &r.row, r.row.columns
	if !r.layout.known {
		l, err := hist.Resolve(n, r.Hint)
		// The only row of a file may lack any number of columns, unless no layout has more.
		isLargest := l == hist.Fio3(0)
		if r.Hint.Groups != 0 {
			isLargest = l.Groups() == r.Hint.Groups && l.Coarseness() == 0
		}
		switch {
		case errors.Is(err, hist.ErrColumns):
			return r.bad(end, binCount(n), wantBins, !isComplete)
		case !isComplete && (err != nil || !isLargest):
			return r.bad(end, "the end of the file", "the end of the line", true)
		}
		if r.decideLayout(n); r.err != nil {
			return nil
		}
	}
	if n != r.layout.columns {
		got := binCount(n)
		if !isComplete {
			got = "the end of the file after " + got
		}
		return r.bad(end, got, fmt.Sprintf("%s as in line %d", binCount(r.layout.columns), r.layout.line), !isComplete)
	}
	if !isComplete && row.used > 0 && int(r.bins[row.used-1].Index) == n-1 {
		// A last count of 0 cannot be the beginning of another number; all others can.
		return r.bad(end, "the end of the file", "the end of the line: the last count may be cut off", true)
	}
	if r.Hint.Half { // the second half is no counts
		row.total = 0
		for i := range row.used {
			if int(r.bins[i].Index) >= r.layout.Half() {
				row.used = i
				break
			}
			row.count(r.bins[i].Count)
		}
	}
	if used := row.used; used > 0 && int(r.bins[used-1].Index) >= r.layout.real {
		return r.bad(end, fmt.Sprintf("requests in bin %d of %s", r.bins[used-1].Index, r.layout.Layout),
			"none at latencies of 292 years: is the number of groups right?", false)
	}
	t, d := int64(row.time), Direction(row.direction)
	// fio writes several rows of a direction with one time only after a stall. Such rows have one request each.
	last := &r.order.last[d]
	if last.rows > 0 && t == last.last && row.total > 1 && slices.Equal(r.kept[d], r.bins[:row.used]) {
		twice := r.bad(1, fmt.Sprintf("\"%d\"", t), "another row than the one before, which is the same", false)
		twice.Repeated = true
		return twice
	}
	isNewJob, want := r.order.check(t, d)
	if want != "" {
		return r.bad(1, fmt.Sprintf("\"%d\"", t), want, false)
	}
	r.kept[d] = append(r.kept[d][:0], r.bins[:row.used]...)
	r.rec = Record{
		Time: t, Direction: d, BlockSize: row.blockSize, NewJob: isNewJob,
		Bins: r.kept[d], Total: row.total, Layout: r.layout.Layout,
	}
	return nil
}

// decideLayout sets the layout of most of the first three rows with a known one, which it searches in nine lines. The
// first of them is the current row, of n bins. If two layouts are equally frequent, it sets the larger one, because
// damage removes columns and hardly ever adds any. If the layout of no row is known, reading ends.
func (r *Reader) decideLayout(n int) {
	const voters, moreLines = 3, 8
	type vote struct {
		columns, line, rows int
		layout              hist.Layout
		err                 error // why the layout is unknown
	}
	var votes []vote // by columns
	ahead, known := 0, 0
	for i := 0; ; i++ {
		l, err := hist.Resolve(n, r.Hint)
		at := slices.IndexFunc(votes, func(v vote) bool { return v.columns == n })
		if at >= 0 {
			votes[at].rows++
		} else if !errors.Is(err, hist.ErrColumns) {
			votes = append(votes, vote{n, r.line + i, 1, l, err})
		}
		if err == nil {
			known++
		}
		length := bytes.IndexByte(r.buf[r.pos+ahead:r.end], '\n')
		for length < 0 && r.fill() {
			length = bytes.IndexByte(r.buf[r.pos+ahead:r.end], '\n')
		}
		if i == moreLines || known == voters || length < 0 {
			break
		}
		n = bytes.Count(r.buf[r.pos+ahead:r.pos+ahead+length], []byte{','}) + 1 - headFields
		ahead += length + 1
	}
	best := slices.MaxFunc(votes, func(a, b vote) int {
		if (a.err == nil) != (b.err == nil) {
			return map[bool]int{true: 1, false: -1}[a.err == nil]
		}
		return cmp.Or(cmp.Compare(a.rows, b.rows), cmp.Compare(a.columns, b.columns))
	})
	if best.err != nil {
		r.err = fmt.Errorf("%s:%d: %w", r.name, best.line, best.err)
		return
	}
	r.layout = fileLayout{true, best.layout, best.layout.Len(), best.layout.Real(), best.line}
}

func (r *Reader) bad(column int, got, want string, partial bool) *SyntaxError {
	return &SyntaxError{File: r.name, Line: r.line, Column: column, Got: got, Want: want, Partial: partial}
}

const wantBins = "1856 or 1216 bins, or one of these divided by 2, 4, 8, 16, 32 or 64"

// binCount names a number of bins in an error.
func binCount(n int) string {
	if n == 1 {
		return "1 bin"
	}
	return fmt.Sprintf("%d bins", n)
}

// Errors that make a file useless. Errors that wrap them name the file.
var (
	// ErrNotLog means that the first lines of a file are not rows.
	ErrNotLog = errors.New("not a log of fio")

	// ErrStoredCompressed means that fio wrote the log with log_store_compressed=1. In such a histogram log fio writes
	// memory addresses in place of the counts, so the counts are lost. A log of completions is complete: `fio
	// --inflate-log` converts it to text.
	ErrStoredCompressed = errors.New("written with log_store_compressed")
)

// SyntaxError is a line or a JSON document that is skipped. Reading continues after it.
type SyntaxError struct {
	File   string // as given to the reader
	Line   int    // 1-based
	Column int    // 1-based, in bytes
	Got    string // a quoted and shortened piece of the file, or words such as "928 bins"
	Want   string // such as "a count"

	// Partial means that the file ends within the row, because fio was stopped or a copy was cut short. All rows before
	// are good.
	Partial bool

	// Repeated means that the line is the same as the row before. So nothing is missing without it.
	Repeated bool
}

// Error returns one line of printable text: `x.log:17:23: got "abc", want a count`.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: got %s, want %s", e.File, e.Line, e.Column, e.Got, e.Want)
}

// zeroBytes stand for text that a system did not write or a copy lacks.
var zeroBytes = []byte{0, 0, 0, 0}

// maxQuoted is the number of bytes of a file that an error quotes.
const maxQuoted = 24

// quoted returns a piece of the file in the form for errors.
func quoted(b []byte) string {
	if bytes.HasPrefix(b, zeroBytes) {
		return "zero bytes, as after a crash or in an incomplete copy"
	}
	if len(b) > maxQuoted {
		return strconv.QuoteToASCII(string(b[:maxQuoted])) + "…"
	}
	return strconv.QuoteToASCII(string(b))
}
