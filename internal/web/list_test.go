package web

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

var (
	titleLink = regexp.MustCompile(`<td class="text name"[^>]*><a href="([^"]*)">([^<]*)</a>`)
	cellTitle = regexp.MustCompile(` data-title="[^"]*"`)
	pageLink  = regexp.MustCompile(`(?:href|action)="([^"]*)"`)
)

// titles returns the titles of the runs in a list, without archive and settings.
func titles(page string) []string {
	var list []string
	for _, m := range titleLink.FindAllStringSubmatch(page, -1) {
		name, _, _ := strings.Cut(strings.TrimPrefix(html.UnescapeString(m[2]), "archive:"), " rand")
		list = append(list, name)
	}
	return list
}

func TestList(t *testing.T) {
	slow, fast, live := runOf(0, "slow", 5000), runOf(1, "fast", 50), runOf(2, "live", 400)
	slow.CBT.Mode = "randread"
	slow.Read, slow.Run.Complete = slow.Write, false
	slow.Write = nil
	live.Run.Ingest, live.Run.Complete = mapping.LiveIngest(began), false
	live.SLA = []mapping.Verdict{{Rule: "write.p99 <= 1ms"}}
	p := serve(historyOf(t, slow, fast, live))
	for path, want := range map[string]string{
		"/":                              "live fast slow",
		"/?sort=start&order=lowest":      "slow fast live",
		"/?sort=p99":                     "slow live fast",
		"/?sort=p99&order=lowest":        "fast live slow",
		"/?sort=iops":                    "fast live slow",
		"/?sort=requests":                "live fast slow", // all have the same number
		"/?sort=max&order=highest":       "slow live fast",
		"/?text=RANDWRITE":               "live fast",
		"/?text=randwrite&sort=p50":      "live fast",
		"/?text=" + fast.Run.ID[:10]:     "fast",
		"/?text=nvme&sort=p99.9&page=1":  "slow live fast",
		"/?text=nothing+of+this":         "",
		"/?text=%3Cscript%3Ealert(1)%3C": "",

		"/?where=mode%3Drandwrite":                                 "live fast",
		"/?where=write.p99.9+%3E+1ms&text=randwrite":               "live",
		"/?where=state%3Dincomplete&sort=p99&order=lowest":         "slow",
		"/?where=+&sort=mean":                                      "slow live fast",
		"/?where=label.disk%3Dnvme&columns=mean,op_size&sort=name": "fast live slow",
		"/?where=bs%3D8k":                                          "",
	} {
		w := p.get(t, path)
		if got := strings.Join(titles(w.Body.String()), " "); w.Code != http.StatusOK || got != want {
			t.Errorf("%s: %d, %q, want %q", path, w.Code, got, want)
		}
		if n := strings.Count(w.Body.String(), "<script"); n != 2 {
			t.Errorf("%s: %d scripts, want that of all pages and that of live pages", path, n)
		}
	}
	page := cellTitle.ReplaceAllString(p.get(t, "/?sort=p99&text=nvme").Body.String(), "")
	for _, want := range []string{
		`<td>200</td>`, `<td>` + unit.Latency(slow.Read.Latency.P50) + `</td>`, `<th scope="row" class="text">read</th>`, `<span class="label state bad">incomplete</span>`,
		`<span class="label state bad">live, sla broken</span>`, `<span class="label">disk=nvme</span>`, `<td class="text">2026-11-21 03:13:02</td>`,
		`aria-sort="descending"><a href="./?order=lowest&amp;sort=p99&amp;text=nvme">p99</a>`, `<a href="./?text=nvme">Start (UTC)</a>`,
		`value="nvme"`, `<input type="hidden" name="sort" value="p99">`, `>1 – 3 of 3<`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	for path, want := range map[string]string{
		"/?sort=size":   "sort=size: want start, requests, p99 or another column",
		"/?order=up":    "order=up: want highest or lowest",
		"/?page=0":      "page=0: want a number from 1",
		"/?page=x":      "page=x: want a number from 1",
		"/?page=1e9":    "page=1e9: want a number from 1",
		"/?page=999999": "",
	} {
		w := p.get(t, path)
		if want == "" && w.Code == http.StatusOK && strings.Contains(w.Body.String(), "There are no more runs: ") {
			continue
		}
		if w.Code != http.StatusBadRequest || want == "" || !strings.Contains(html.UnescapeString(w.Body.String()), want) {
			t.Errorf("%s: %d, want 400 and %s", path, w.Code, want)
		}
	}
}

// TestSparse: runs about which little is known are listed, too.
func TestSparse(t *testing.T) {
	averages, nothing := runOf(0, "averages", 100), runOf(1, "nothing", 100)
	averages.All = &mapping.Totals{IOPS: 120, Latency: mapping.Latency{Mean: 42}}
	averages.Write = averages.All
	nothing.All, nothing.Write, nothing.Run.Start = nil, nil, began.AddDate(-2026, 0, 0)
	byFio := runOf(2, "fio", 100)
	byFio.All = &mapping.Totals{Requests: 10, IOPS: 5, Fio: &mapping.FioLatency{Max: 90.5, Percentiles: []mapping.FioPercentile{{Rank: 50, Value: 40.5}}}}
	byFio.Write = byFio.All
	page := serve(historyOf(t, averages, nothing, byFio)).get(t, "/").Body.String()
	page = cellTitle.ReplaceAllString(html.UnescapeString(page), "")
	for _, want := range []string{
		`<th scope="row" class="text">write</th><td>-</td><td>120</td><td>-</td><td>-</td><td>-</td><td>-</td><td>-</td>`,
		`<th scope="row" class="text"></th><td>-</td><td>-</td><td>-</td><td>-</td><td>-</td><td>-</td><td>-</td>`, `<td class="text">-</td>`,
		`<td>10</td><td>5</td><td>40.5µs*</td><td>-</td><td>-</td><td>-</td><td>90.5µs*</td>`, `<p class="note">` + facts.FioNote + `</p>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestPages: in any order, the pages together have each run once, and their links lead to the next page and back.
func TestPages(t *testing.T) {
	const n = 2*pageRuns + 50
	var runs []*mapping.Run
	for i := range n {
		runs = append(runs, runOf(i, fmt.Sprintf("run%03d", i), 50+float64(i*37%n)))
	}
	p := serve(historyOf(t, runs...))
	for path, want := range map[string][]string{
		"/":                 {"1 – 100", "101 – 200", "201 – 250 of 250"},
		"/?sort=p99":        {"1 – 100 of 250", "101 – 200 of 250", "201 – 250 of 250"},
		"/?text=run":        {"1 – 100", "101 – 200", "201 – 250 of 250"},
		"/?order=lowest":    {"1 – 100 of 250", "101 – 200 of 250", "201 – 250 of 250"},
		"/?text=run1":       {"1 – 100 of 100"},
		"/?text=run01&page": {"1 – 10 of 10"},
	} {
		var all, ranges, way []string
		for next := path; next != ""; {
			way = append(way, next)
			page := p.get(t, next).Body.String()
			all = append(all, titles(page)...)
			ranges = append(ranges, regexp.MustCompile(`<span>([^<]*)</span>(?:<a|</div>)`).FindStringSubmatch(page)[1])
			next = linkOf(page, "next")
			if before := linkOf(page, "prev"); len(way) > 1 && parameters(before) != parameters(way[len(way)-2]) {
				t.Errorf("%s: before it is %q, want %q", way[len(way)-1], before, way[len(way)-2])
			}
		}
		slices.Sort(all)
		if different := len(slices.Compact(slices.Clone(all))); !slices.Equal(ranges, want) || len(all) != lastOf(want) || different != len(all) {
			t.Errorf("%s: %v, %d runs, %d different ones", path, ranges, len(all), different)
		}
	}
}

// lastOf returns the total number of runs in ranges such as "201 – 250 of 250".
func lastOf(ranges []string) (last int) {
	_, text, _ := strings.Cut(ranges[len(ranges)-1], " of ")
	fmt.Sscan(text, &last)
	return last
}

// TestConditions: a condition with a mistake is shown with the place of the mistake, and the rest of the search
// stays.
func TestConditions(t *testing.T) {
	p := serve(historyOf(t, runOf(0, "a", 50)))
	for _, path := range []string{"/", "/workloads"} {
		w := p.get(t, path+"?text=a%3Cb&where="+url.QueryEscape(`bs=4k and bz<1`))
		for _, want := range []string{
			`<strong>column 11: no field is called &#34;bz&#34;: did you mean bs, bw?</strong><br><code>bs=4k and <mark>bz&lt;1</mark></code>`,
			`value="bs=4k and bz&lt;1"`, `aria-invalid="true"`,
		} {
			if body := w.Body.String(); w.Code != http.StatusBadRequest || !strings.Contains(body, want) || path == "/" && !strings.Contains(body, `value="a&lt;b"`) {
				t.Errorf("%s: %d without %s:\n%s", path, w.Code, want, body[strings.Index(body, "<main>"):])
			}
		}
	}
	if body := p.get(t, "/?where=bs%3D4k+and+").Body.String(); !strings.Contains(body, "bs=4k and <mark> </mark>") {
		t.Errorf("the end of a condition: %s", body)
	}
}

// TestUndecided: a page says how many runs a condition leaves out because it is unknown whether they meet it.
func TestUndecided(t *testing.T) {
	p := serve(historyOf(t, runOf(0, "a", 50), runOf(1, "b", 20e6)))
	where := "?where=" + url.QueryEscape("p99 < 30s")
	for path, want := range map[string]string{
		"/" + where: "left out 1 run: a latency", "/" + where + "&sort=p99": "left out 1 run: a latency", "/workloads" + where: "left out 1 run: a latency",
		"/" + where + url.QueryEscape(" and p50 > 1s"): "; left out 1 run: a latency",
	} {
		if body := p.get(t, path).Body.String(); !strings.Contains(html.UnescapeString(body), want) {
			t.Errorf("%s: %s", path, body[strings.Index(body, "<main>"):])
		}
	}
	if body := p.get(t, "/?where=p99%3C10s").Body.String(); strings.Contains(body, "left out") {
		t.Error("a condition that is decided")
	}
}

// TestListTag: a list that has not changed is not sent again.
func TestListTag(t *testing.T) {
	store := historyOf(t, runOf(0, "a", 50))
	p := serve(store)
	tag := p.get(t, "/").Header().Get("ETag")
	if w := p.get(t, "/", "If-None-Match", tag); tag == "" || w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("%s: %d, %d bytes", tag, w.Code, w.Body.Len())
	}
	must(t, store.Finish(t.Context(), runOf(1, "b", 50)))
	if w := p.get(t, "/", "If-None-Match", tag); w.Code != http.StatusOK {
		t.Errorf("with one more run: %d", w.Code)
	}
}

// TestColumns: the list has the columns in its address, in their order, and can be sorted by each.
func TestColumns(t *testing.T) {
	run := runOf(0, "a", 50)
	run.All.Bandwidth = 4096
	run.Read = run.Write
	p := serve(historyOf(t, run, runOf(1, "b", 60)))
	for columns, want := range map[string]string{
		"bandwidth,Op_size p99.9,run": "Dir Bandwidth↓ Block size p99.9|read 4.00KiB/s 4KiB 450µs|write 4.00KiB/s  450µs|write - 4KiB 539µs",
		"op_size,jobs,state":          "Block size Jobs|4KiB 8|4KiB 8",
		",":                           "|||",
	} {
		page := p.get(t, "/?sort=bandwidth&columns="+url.QueryEscape(columns)).Body.String()
		var rows []string
		for _, row := range regexp.MustCompile(`(?s)<tr.*?</tr>`).FindAllString(page, -1) {
			row = strings.ReplaceAll(row, ` aria-sort="descending"><a`, `><a class="↓"`)
			var cells []string
			for _, cell := range regexp.MustCompile(`<t[dh][^>]*>(?:<a( class="↓")?[^>]*>)?([^<]*)`).FindAllStringSubmatch(row, -1) {
				cells = append(cells, cell[2]+map[bool]string{true: "↓"}[cell[1] != ""])
			}
			rows = append(rows, strings.Join(cells[4:], " ")) // behind the name
		}
		if got := strings.Join(rows, "|"); columns != "," && got != want || columns == "," && strings.Trim(got, "|") != "" {
			t.Errorf("%s: %s, want %s", columns, got, want)
		}
		if link := html.UnescapeString(page); !strings.Contains(link, `columns=`+url.QueryEscape(columns)) || !strings.Contains(page, `value="`+columns+`"`) {
			t.Errorf("%s: the links of the page do not keep the columns:\n%s", columns, page)
		}
	}
	if w := p.get(t, "/?columns="+strings.Repeat("run,", 12_000)); w.Code != http.StatusBadRequest || w.Body.Len() > 30_000 {
		t.Errorf("12,000 columns: %d, %d bytes", w.Code, w.Body.Len()) // refused before a list is made
	}
	if w := p.get(t, "/?columns=size"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "columns=size: no column is called") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// linkOf returns the address of a link from one page to another, from the root.
func linkOf(page, rel string) string {
	m := regexp.MustCompile(`<a href="\.(/[^"]*)" rel="` + rel + `">`).FindStringSubmatch(page)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// parameters returns the parameters of an address that are not empty, sorted.
func parameters(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return err.Error()
	}
	v := u.Query()
	for key := range v {
		if v.Get(key) == "" {
			v.Del(key)
		}
	}
	return v.Encode()
}

// TestAddress: the address of a list leads to the same list.
func TestAddress(t *testing.T) {
	for i := range where.Orders() {
		for _, text := range []string{"", "a b&c=d #?%<>\"'"} {
			for _, page := range []int{1, 7} {
				for _, lowest := range []bool{false, true} {
					q := listQuery{Text: text, Where: "bs=4k", Columns: "p99,mode", By: where.Orders()[i], Lowest: lowest, Page: page}
					u, err := url.Parse(q.Address())
					must(t, err)
					if got, err := parseQuery(u.Query()); err != nil || got != q {
						t.Errorf("%s: %+v, %v, want %+v", q.Address(), got, err, q)
					}
				}
			}
		}
	}
	by := listQuery{By: where.Orders()[5], Page: 3}
	if got := by.Sorted(where.Orders()[5]); !got.Lowest || got.Page != 1 {
		t.Errorf("the same column once more: %+v", got)
	}
	if got := by.Sorted(where.Orders()[5]).Sorted(where.Orders()[2]); got.Lowest || got.By != where.Orders()[2] {
		t.Errorf("another column: %+v", got)
	}
}

// TestHostile: no text of a run becomes an element or an attribute.
func TestHostile(t *testing.T) {
	const evil = `</title></style></svg><script>alert(1)</script><img src=x onerror=alert(2)>" onload="alert(3)' onload='alert(4) javascript:alert(5) {{.}} ]]>`
	hostile, clean := runOf(0, evil, 100), runOf(0, "clean", 100)
	hostile.Run.ID, hostile.Run.Archive, hostile.CBT.Mode, hostile.Run.Labels = evil, evil, evil, map[string]string{evil: evil}
	other := runOf(1, "other", 100)
	likeHostile := runOf(1, "other", 100)
	likeHostile.CBT.Mode = evil // another run of the same workload
	p := serve(historyOf(t, hostile, likeHostile), func(s *site) { s.Name = evil })
	of := func(p *pages, path string) string { return p.get(t, path).Body.String() }
	id := "/runs/" + url.PathEscape(evil)
	for _, c := range []struct{ page, like string }{
		{of(p, "/"), of(serve(historyOf(t, clean, other)), "/")},
		{of(p, "/?text="+url.QueryEscape(evil)), of(serve(historyOf(t, clean, other)), "/?text=archive")},
		{of(p, "/?text="+url.QueryEscape(evil+"x")), of(p, "/?text=x-x")},
		{of(p, id+"x"), of(p, "/runs/zzz")},
		{of(p, "/?sort="+url.QueryEscape(evil)), of(p, "/?sort=zzz")},
		{of(p, id), of(serve(historyOf(t, clean)), "/runs/"+clean.Run.ID)},
	} {
		for _, element := range []string{"<script", "<svg", "<style", "<title", "<text", " href=", "<a ", "<input", "<img", `" onload=`, `' onload=`, "</style"} {
			if got, want := strings.Count(c.page, element), strings.Count(c.like, element); got != want {
				t.Errorf("%d times %s, want %d:\n%s", got, element, want, c.page[max(0, strings.Index(c.page, "<main>")):])
			}
		}
		if !strings.Contains(c.page, "<main>") {
			t.Errorf("no page: %s", c.page)
		}
	}
	if w := p.get(t, id); w.Code != http.StatusOK {
		t.Errorf("its report: %d", w.Code)
	}
}

// TestEmptyList: a list without runs says how many runs the history has, and repeats the query.
func TestEmptyList(t *testing.T) {
	p := serve(historyOf(t, runOf(0, "a", 50), runOf(1, "b", 60)))
	for path, want := range map[string]string{
		"/?text=x%3Cy":       "No run has “x&lt;y” in its id, name, archive, path, benchmark, workload, mode, a label or the note: the history has 2 runs: started",
		"/?where=bs%3D8k":    "No run meets “bs=8k”: the history has 2 runs: started",
		"/?where=bs%3D9k":    "; bs=9k: no run. <a",
		"/?page=3":           "There are no more runs: 2 in this history, with 100 on a page, and this is page 3.",
		"/?sort=p99&page=3":  "There are no more runs: 2 in this history, with 100 on a page, and this is page 3.",
		"/?text=nvme&page=2": "There are no more runs: 2 in this history match “nvme”, with 100 on a page, and this is page 2.",
	} {
		if w := p.get(t, path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, want %q in\n%s", path, w.Code, want, w.Body)
		}
	}
	if w := serve(historyOf(t)).get(t, "/"); !strings.Contains(w.Body.String(), "No runs yet: this history has 0 runs. Store runs with <code>fio2es ingest PATH</code>") {
		t.Errorf("an empty history:\n%s", w.Body)
	}
}
