//go:build linux

package fiomatrix

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// testWriter prints to a test's log, without a file name before each line.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(text []byte) (int, error) {
	fmt.Fprintf(w.t.Output(), "%s", text)
	return len(text), nil
}

// printTable prints a line for each way, the errors of percentiles, and a line for each failure.
func printTable(w io.Writer, cases []*outcome) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nway\tcases\tpassed\texpected")
	for _, way := range ways {
		n, passed, kinds := 0, 0, map[string]bool{}
		for _, o := range cases {
			if o.way.name == way.name {
				n++
				if o.passed() {
					passed++
				}
				if o.verdict != nil {
					kinds[o.verdict.kind.String()] = true
				}
			}
		}
		if n > 0 {
			fmt.Fprintf(t, "%s\t%d\t%d\t%s\n", way.name, n, passed, strings.Join(keys(kinds), "; "))
		}
	}
	t.Flush()
	printErrors(w, cases)
	fmt.Fprintln(t, "\nway/seed\tjobs\tms\tdrawn\tcheck\texpected\tseen")
	for _, o := range cases {
		for _, wrong := range o.before {
			fmt.Fprintf(t, "%s\t\t\t\tan earlier try\t\t%s\n", o.name(), wrong)
		}
		if o.err != nil {
			fmt.Fprintf(t, "%s\t\t\t\tthe case itself\t\t%s\n", o.name(), oneLine(o.err.Error()))
			continue
		}
		list := collapse(o.verdict.failures)
		for i, f := range list {
			if i == tableLines && len(list) > tableLines+1 {
				fmt.Fprintf(t, "%s\t\t\t\t… %d checks more\t\t\n", o.name(), len(list)-i)
				break
			}
			fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%s\n", o.name(), len(o.scene.truth), o.scene.histMS, o.scene.drawn(), f.check, f.want, oneLine(f.got))
		}
	}
	t.Flush()
}

// printErrors prints the median errors of percentiles over the windows of all cases at coarseness 0, by the length
// of rows.
func printErrors(w io.Writer, cases []*outcome) {
	type errors struct{ follow, cut [4][]float64 }
	by := map[int]*errors{}
	for _, o := range cases {
		if o.verdict == nil || o.scene.coarse > 0 {
			continue
		}
		e := by[o.scene.histMS]
		if e == nil {
			e = &errors{}
			by[o.scene.histMS] = e
		}
		for i := range share {
			e.follow[i] = append(e.follow[i], o.verdict.errors[i]...)
			e.cut[i] = append(e.cut[i], o.verdict.cut[i]...)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nmedian errors of percentiles at coarseness 0, percent")
	fmt.Fprintln(t, "log_hist_msec\twindows\t\tp50\tp90\tp95\tp99")
	for _, ms := range slices.Sorted(maps.Keys(by)) {
		printMedians(t, ms, "follow rows", by[ms].follow)
		printMedians(t, ms, "cut rows", by[ms].cut)
	}
	t.Flush()
}

func printMedians(w io.Writer, ms int, name string, errors [4][]float64) {
	fmt.Fprintf(w, "%d\t%d\t%s", ms, len(errors[0]), name)
	for i := range share {
		fmt.Fprintf(w, "\t%.2f", median(errors[i])*100)
	}
	fmt.Fprintln(w)
}

// tableLines is how many failures of a case are in the table. The others usually follow from these, and are in the
// lines of the case.
const tableLines = 4

// collapse joins failures of the same check.
func collapse(failures []failure) []failure {
	var out []failure
	times := map[string]int{}
	for _, f := range failures {
		if times[f.check]++; times[f.check] == 1 {
			out = append(out, f)
		}
	}
	for i, f := range out {
		if n := times[f.check]; n > 1 {
			out[i].check = fmt.Sprintf("%s (%d times)", f.check, n)
		}
	}
	return out
}

// oneLine returns a text without newlines, cut at 160 characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 160 {
		return string(r[:159]) + "…"
	}
	return s
}

func keys(m map[string]bool) []string {
	var out []string
	for _, k := range []kind{complete, totals, short, refused} {
		if m[k.String()] {
			out = append(out, k.String())
		}
	}
	return out
}

// drawn says what was drawn besides jobs and interval.
func (s *scene) drawn() string {
	var out []string
	for _, p := range s.processes {
		engine, _ := p.global.value("ioengine")
		out = append(out, engine)
		for _, sig := range p.signals {
			out = append(out, sig.name)
		}
	}
	if s.coarse > 0 {
		out = append(out, fmt.Sprintf("coarse %d", s.coarse))
	}
	if s.note != "" {
		out = append(out, s.note)
	}
	return strings.Join(out, " ")
}
