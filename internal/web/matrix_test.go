package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

// TestMatrix: the page has a curve and a heat map of many runs, by the settings that are named or in which the runs differ.
func TestMatrix(t *testing.T) {
	var runs []*mapping.Run
	for i := range 12 {
		run := runOf(i, fmt.Sprint("run", i), 100+10*float64(i))
		run.CBT.OpSize, run.CBT.IODepth = []int64{4096, 65536}[i%2], []int64{1, 4, 16}[i/2%3]
		runs = append(runs, run)
	}
	p := serve(historyOf(t, runs...))
	const title = "<h2>p99 of writes by %s</h2>"
	for _, c := range []struct {
		address  string
		code     int
		want     string
		drawings int
	}{
		{"/matrix", 200, fmt.Sprintf(title, "op_size and iodepth"), 2},
		{"/matrix", 200, "A cell is the median of 2 runs", 2},
		{"/matrix?by=qd,bs&show=iops", 200, "<h2>IOPS of writes by qd and bs</h2>", 1},
		{"/matrix?by=qd&where=" + url.QueryEscape("bs=4k"), 200, fmt.Sprintf(title, "qd"), 1},
		{"/matrix?by=qd&show=iops", 200, "Nothing can be drawn", 0},
		{"/matrix?where=" + url.QueryEscape("bs=4k and qd=1"), 200, "These runs do not differ in one to three settings alone", 0},
		{"/matrix?where=" + url.QueryEscape("bs=5k"), 200, "No runs that are over meet “bs=5k”", 0},
		{"/matrix?by=%3Cscript%3E", 400, "no setting is called &#34;&lt;script&gt;&#34;", 0},
		{"/matrix?show=foo", 400, "foo: want one of IOPS", 0},
		{"/matrix?where=bs", 200, "p99 of writes", 2},
		{"/matrix?where=mdoe%3Dx", 400, "no field is called", 0},
		{"/", 200, `<a href="./matrix">Matrix</a>`, 0},
		{"/?where=bs%3D4k", 200, `<a href="./matrix?where=bs%3D4k">Matrix</a>`, 0},
	} {
		w := p.get(t, c.address)
		body := w.Body.String()
		if w.Code != c.code || !strings.Contains(body, c.want) || strings.Count(body, "<svg xmlns") != c.drawings {
			t.Errorf("%s: %d with %d drawings, want %d with %d and %s:\n%s", c.address, w.Code, strings.Count(body, "<svg xmlns"), c.code, c.drawings, c.want, body[max(strings.Index(body, "<main>"), 0):])
		}
		if c.code == http.StatusOK && c.drawings > 0 && strings.Contains(w.Header().Get("Content-Security-Policy"), "unsafe-inline") {
			t.Errorf("%s: %s", c.address, w.Header().Get("Content-Security-Policy"))
		}
	}
}
