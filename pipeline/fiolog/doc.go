// Package fiolog parses fio's output: histogram logs, logs of completions and averages, reports
// in JSON, normal and terse output, and the names of these files.
//
//	r := fiolog.NewReader(f, f.Name(), fiolog.ClatHist)
//	for {
//		rec, err := r.Next()
//		if bad := (*fiolog.SyntaxError)(nil); errors.As(err, &bad) {
//			continue // one line is skipped; bad says where, and what is wrong
//		} else if err != nil {
//			break // io.EOF, or the file cannot be read
//		}
//		histogram.AddBins(rec.Layout, rec.Bins)
//	}
//
// It reads the output of fio 2 and 3 in any layout of bins, also of a fio that was rebuilt
// with more groups ([Reader.Hint]). It does not know when a job began or on which host,
// does not add or interpolate anything, and neither opens nor unpacks files: its input is
// text.
//
// # Times and units
//
// A row's time is milliseconds, as written, and the END of its interval. Latencies are
// nanoseconds. In rows of a log of fio 2 they are microseconds, which only the number of
// columns shows. Reports are always nanoseconds; those of fio 2 are converted.
//
// # Damage
//
// Logs are cut short, joined, and copied badly. A row is used if it is complete and
// unambiguous. Any other is returned as a [SyntaxError] with file, line, column, what is
// there and what is expected, and later rows follow. FORMAT.md describes the formats, byte
// by byte, and all decisions of this kind.
//
// # Speed
//
// Rows in fio's own form are read eight bytes at a time, without allocating. Rows in any
// other form, with tabs or damaged, take ten times as long.
package fiolog
