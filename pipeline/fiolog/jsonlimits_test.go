package fiolog_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// manyTimes reads a text with a piece of it many times, as an archive of some kilobytes has it.
func manyTimes(before, piece string, times int, after string) io.Reader {
	block := strings.Repeat(piece, 1000)
	readers := []io.Reader{strings.NewReader(before)}
	for range times / 1000 {
		readers = append(readers, strings.NewReader(block))
	}
	return io.MultiReader(append(readers, strings.NewReader(after))...)
}

// numbered reads a text with a piece of it for each number.
func numbered(before, format string, times int, after string) io.Reader {
	var b strings.Builder
	b.WriteString(before)
	for i := range times {
		fmt.Fprintf(&b, format, i)
	}
	b.WriteString(after)
	return strings.NewReader(b.String())
}

const begin = "{\"fio version\": \"fio-3.33\", "

// reportAttack is a text that is more than a report may be.
type reportAttack struct {
	name string
	text func(n int) io.Reader
	want string // in the only error; "" if there is a report
}

var reportAttacks = []reportAttack{
	{"empty jobs", func(n int) io.Reader { return manyTimes(begin+`"jobs": [`, "{},", n, "{}]}") }, "group_reporting"},
	{"options of all", func(n int) io.Reader {
		return numbered(begin+`"jobs": [{}], "global options": {`, `"%d":1,`, n/10, `"x":1}}`)
	}, "more than 1000 options"},
	{"options of a client with many jobs", func(n int) io.Reader {
		all := `"global options": [{"hostname":"h",` + strings.Repeat(`"a":1,`, 10) + fmt.Sprintf(`"b":%q`, strings.Repeat("x", 4000)) + `}], "client_stats": [`
		return manyTimes(begin+all, `{"hostname":"h"},`, n/10, `{}]}`)
	}, "group_reporting"},
	{"options of a job", func(n int) io.Reader {
		return numbered(begin+`"jobs": [{"job options": {`, `"%d":1,`, n/10, `"x":1}}]}`)
	}, "more than 1000 options"},
	{"bins", func(n int) io.Reader {
		return manyTimes(begin+`"jobs": [{"read": {"clat_ns": {"bins": {`, `"1":1,`, n/2, `"x":1}}}}]}`)
	}, "more than 4112 bins"},
	{"percentiles", func(n int) io.Reader {
		return manyTimes(begin+`"jobs": [{"read": {"clat_ns": {"percentile": {`, `"1":1,`, n/2, `"2":1}}}}]}`)
	}, "more than 4112 bins"},
	{"a long name", func(n int) io.Reader { return manyTimes(begin+`"jobs": [{"jobname": "`, "x", n*12, `"}]}`) }, ""},
	{"what fio does not write", func(n int) io.Reader { return manyTimes(begin+`"x": [`, "{},", n, `{}], "jobs": [{}]}`) }, ""},
	{"deep lists", func(n int) io.Reader { return manyTimes(begin+`"x": `, "[", n, "") }, "the end of the file"},
}

// moreReportAttacks take long, and exceed the same limits in other ways.
var moreReportAttacks = []reportAttack{
	{"options of many clients", func(n int) io.Reader {
		return manyTimes(begin+`"global options": [`, `{"a":1},`, n, `{}], "jobs": [{}]}`)
	}, "group_reporting"},
	{"options of many jobs", func(n int) io.Reader {
		one := `{"job options": {` + strings.Repeat(`"a":1,`, 900) + `"x":1}},`
		return manyTimes(begin+`"jobs": [`, one, 70<<20/len(one), `{}]}`)
	}, "more than 67108864 bytes"},
	{"empty clients", func(n int) io.Reader { return manyTimes(begin+`"client_stats": [`, "{},", n, "{}]}") }, "group_reporting"},
	{"jobs of all directions", func(n int) io.Reader {
		return manyTimes(begin+`"jobs": [`, `{"mixed":{"lat":{}}},`, n/10, "{}]}")
	}, "group_reporting"},
	{"jobs of no object", func(n int) io.Reader { return manyTimes(begin+`"jobs": [`, "0,", n, "0]}") }, "group_reporting"},
	{"percentiles of many jobs", func(n int) io.Reader {
		one := `{"read": {"clat_ns": {"percentile": {` + strings.Repeat(`"1":1,`, 4000) + `"2":1}}}},`
		return manyTimes(begin+`"jobs": [`, one, 1000, `{}]}`)
	}, "group_reporting"},
	{"a long report", func(n int) io.Reader { return manyTimes(begin+`"x": "`, "x", 70<<20, `", "jobs": [{}]}`) }, "more than 67108864 bytes"},
	{"braces", func(n int) io.Reader { return manyTimes("", "{\"a\":", 70<<20/5, "") }, "more than 67108864 bytes"},
}

func TestReportLimits(t *testing.T) {
	const most, longest = 450 << 20, time.Minute
	for _, tt := range append(reportAttacks, memtest.Scale(nil, moreReportAttacks)...) {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.text(memtest.Scale(200_000, 5_000_000))
			var reports, jobs int
			var errs []error
			used := memtest.Measure(t, func() {
				for r, err := range fiolog.ReadReports(in, "x") {
					if err != nil {
						errs = append(errs, err)
						continue
					}
					reports++
					jobs += len(r.Jobs)
				}
			})
			t.Logf("%d MB, %v: %d jobs, %.200v", used.Peak>>20, used.Time, jobs, errs)
			if used.Peak > most || used.Time > longest {
				t.Errorf("it took %d bytes and %v", used.Peak, used.Time)
			}
			if tt.want == "" && (reports != 1 || len(errs) > 0) || tt.want != "" && (len(errs) == 0 || !strings.Contains(errs[0].Error(), tt.want)) {
				t.Errorf("%d reports, errors %v", reports, errs)
			}
		})
	}
}

func TestReportOfManyJobs(t *testing.T) {
	const all = 4096 // fio has no more
	in := manyTimes(begin+`"jobs": [`, `{"jobname": "a", "job options": {"rw": "read"}, "read": {"clat_ns": {"bins": {"1": 2, "3": 4}}}},`+"\n", all/1000*1000, `{}]}`)
	n := 0
	for r, err := range fiolog.ReadReports(in, "x") {
		if err != nil {
			t.Fatal(err)
		}
		n += len(r.Jobs)
		if j := r.Jobs[7]; j.Name != "a" || j.Options["rw"] != "read" || len(j.Directions[fiolog.Read].Clat.Bins) != 2 {
			t.Errorf("job %+v", j)
		}
	}
	if n != all/1000*1000+1 {
		t.Errorf("%d jobs", n)
	}
}
