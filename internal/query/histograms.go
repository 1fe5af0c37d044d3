package query

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/source"
)

// HistogramKind says what a file is that was given by name and is none of fio's: see [export.Kind].
func HistogramKind(f *evidence.File) string {
	if !f.Named {
		return ""
	}
	in, err := f.Open()
	if err != nil {
		return ""
	}
	defer in.Close()
	head := make([]byte, 32<<10)
	n, _ := io.ReadFull(in, head)
	return export.Kind(head[:n])
}

// readHistograms reads the files of histograms that were given by name, and takes them out of the files that belong to no
// run. In folders nothing looks for them.
func readHistograms(archive *pipeline.Archive, unit string) (runs []*export.Run, err error) {
	archive.Left = slices.DeleteFunc(archive.Left, func(l assign.Left) bool {
		if err != nil || HistogramKind(l.File) == "" {
			return false
		}
		in, cause := l.File.Open()
		if cause != nil {
			err = cause
			return false
		}
		defer in.Close()
		var of []*export.Run
		of, err = export.Read(l.File.Name(), in, export.ReadOptions{Unit: unit, Budget: l.File.Budget()})
		if errors.Is(err, source.ErrTooMuch) { // the others are read
			archive.Problems = append(archive.Problems, &source.Problem{Name: l.File.Name(), Err: err})
			err = nil
		}
		runs = append(runs, of...)
		return true
	})
	return runs, err
}

// readHistograms calls take with the windows of a file of histograms, and makes the run document. With a nil take it reads
// none.
func (r *Run) readHistograms(take func(*window.Window) error) (*mapping.Run, error) {
	of := r.histograms
	doc := &mapping.Run{Run: of.Info, IntervalMS: of.IntervalMS, Levels: []mapping.Level{mapping.Cluster}}
	doc.Run.Complete, doc.Documents.Cluster = true, len(of.Windows)
	for _, w := range of.Windows {
		// Requests without a direction are what the user says.
		if w.Direction == mapping.AllDirections && len(r.query.Directions) == 1 {
			w.Direction = r.query.Directions[0]
		}
		if w.Host != "" && !slices.Contains(doc.Levels, mapping.Host) {
			doc.Levels = append(doc.Levels, mapping.Host)
		}
		if w.Job != "" && !slices.Contains(doc.Levels, mapping.Job) {
			doc.Levels = append(doc.Levels, mapping.Job)
		}
	}
	if of.Windows[0].Direction == mapping.AllDirections {
		r.Notes = append(r.Notes, of.Info.Name+": it does not say whether its requests are reads or writes: --direction read takes them for reads")
	}
	slices.Sort(doc.Levels)
	var whole window.Sum
	for windows := of.Windows; len(windows) > 0; { // those of one nominal time after another
		n := 1
		for n < len(windows) && windows[n].ElapsedMS == windows[0].ElapsedMS {
			n++
		}
		for _, level := range r.levels() {
			sums, err := sumsAt(level, windows[:n])
			if err != nil {
				return nil, err
			}
			for _, w := range sums {
				if take == nil {
					break
				}
				if err := take(w); err != nil {
					return nil, err
				}
			}
		}
		for _, w := range windows[:n] {
			if err := whole.Add(w); err != nil {
				return nil, err
			}
		}
		windows = windows[n:]
	}
	for _, w := range whole.Windows() {
		ms := w.Length().Milliseconds()
		total := &mapping.Totals{Requests: w.Completed, DurationMS: ms, IOPS: w.IOPS, Latency: w.Latency}
		total.Latency.SetBins(w.Layout, w.Counts)
		switch w.Direction {
		case "read":
			doc.Read = total
		case "write":
			doc.Write = total
		case "trim":
			doc.Trim = total
		case mapping.Sync:
			doc.Sync = total
		default:
			doc.All = total
		}
	}
	if list := doc.ByDirection(); doc.All == nil && len(list) > 0 && list[0].Direction != mapping.Sync { // of several, the sums have all
		doc.All = list[0].Totals
	}
	return doc, nil
}

// sumsAt adds up windows of one nominal time to those of a level. Windows without a host or a job are not of these levels.
func sumsAt(level mapping.Level, windows []*window.Window) (list []*window.Window, err error) {
	type series struct{ host, job, direction string }
	sums := map[series]*window.Sum{}
	for _, w := range windows {
		of := series{direction: w.Direction}
		switch {
		case level == mapping.Host && w.Host != "":
			of.host = w.Host
		case level == mapping.Job && w.Job != "":
			of.host, of.job = w.Host, w.Job
		case level != mapping.Cluster:
			continue
		}
		if sums[of] == nil {
			sums[of] = &window.Sum{}
		}
		if err := sums[of].Add(w); err != nil {
			return nil, err
		}
	}
	for of, sum := range sums {
		w := sum.Windows()[0]
		w.Level, w.Host, w.Job, w.ElapsedMS, w.ToMS = level, of.host, of.job, windows[0].ElapsedMS, windows[0].ToMS
		list = append(list, w)
	}
	place := func(w *window.Window) int { return slices.Index(mapping.Directions[:], w.Direction) }
	slices.SortFunc(list, func(a, b *window.Window) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), unit.Compare(a.Job, b.Job), cmp.Compare(place(a), place(b)))
	})
	return list, nil
}
