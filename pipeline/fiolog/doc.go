// Package fiolog is what a line of fio's output means: rows of histogram logs, rows of
// logs of completions, JSON reports, and the names of their files.
//
//	r := fiolog.NewReader(f, f.Name(), fiolog.ClatHist)
//	for {
//		rec, err := r.Next()
//		if bad := (*fiolog.SyntaxError)(nil); errors.As(err, &bad) {
//			continue // one line is left out; bad says where, and what is wrong
//		} else if err != nil {
//			break // io.EOF, or the file can not be read
//		}
//		histogram.AddBins(rec.Layout, rec.Bins)
//	}
//
// It reads what fio 2 and 3 write, in any layout of bins, also of a fio that was rebuilt
// with more groups ([Reader.SetHint]). It does not know when a job began on which host,
// does not add or interpolate anything, and neither opens files nor unpacks them: give it
// text.
//
// # Times and units
//
// A row's time is milliseconds, as written, and the END of what it tells of; latencies
// are nanoseconds. In rows of a log of fio 2 they are microseconds, and nothing in such
// a log says so but the number of its columns. Reports are nanoseconds always: fio 2's are
// converted.
//
// # Damage
//
// Logs are cut short, joined, and copied badly. A row is used when it is whole and can
// mean one thing only. All others come as a [SyntaxError] that names file, line, byte,
// what is there and what should be, and reading goes on behind them. FORMAT.md has the
// formats, byte by byte, and all decisions of this kind.
//
// # Speed
//
// Rows in fio's own form are read without allocating, eight bytes at a time. What is in
// any other form, with tabs or damaged, takes a second look at a tenth of that speed.
package fiolog
