package fiolog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

var sameLayout = cmp.Comparer(func(a, b hist.Layout) bool { return a == b })

func readReports(src io.Reader) (reports []*fiolog.Report, faults []string) {
	for r, err := range fiolog.ReadReports(src, "x.json") {
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		reports = append(reports, r)
	}
	return reports, faults
}

func total(bins []hist.Bin) (n uint64) {
	for _, b := range bins {
		n += b.Count
	}
	return n
}

func TestReportMixedWithText(t *testing.T) {
	reports, faults := readReports(bytes.NewReader(golden.Gunzip(t, filepath.Join("testdata", "two-jobs.txt.gz"))))
	if len(reports) != 1 || len(faults) > 0 {
		t.Fatalf("got %d reports and %q, want one", len(reports), faults)
	}
	r := reports[0]
	if r.Version != "fio-3.33" || r.Timestamp != 1795230643200 || len(r.Jobs) != 2 || r.Line != 5 || r.GlobalOptions["rate_iops"] != "1000,600" {
		t.Errorf("got %s at %d, line %d, %d jobs, options %v", r.Version, r.Timestamp, r.Line, len(r.Jobs), r.GlobalOptions)
	}
	j := r.Jobs[0]
	if j.Name != "jobs" || j.Elapsed != 11 || j.Runtime != 10000 || j.Planned != 10000 || j.Start != 0 || j.Mixed != nil || j.Options["numjobs"] != "2" {
		t.Errorf("got job %q, elapsed %d, runtime %d, start %d, options %v", j.Name, j.Elapsed, j.Runtime, j.Start, j.Options)
	}
	read := j.Directions[fiolog.Read]
	if read.IOBytes != 40960000 || read.TotalIOs != 10000 || read.Runtime != 10001 || read.BandwidthBytes != 4095590 || read.IOPS != 999.90001 {
		t.Errorf("got %+v", read)
	}
	clat := read.Clat
	if clat.Min != 19080 || clat.Max != 525298 || clat.Mean != 39544.8936 || clat.StdDev != 18286.887482 || clat.N != 10000 {
		t.Errorf("got %+v", clat)
	}
	if got := clat.Percentiles[15]; len(clat.Percentiles) != 17 || got != (fiolog.Percentile{99.95, 284672}) {
		t.Errorf("got %d percentiles, among them %+v", len(clat.Percentiles), got)
	}
	for _, j := range r.Jobs {
		for d, s := range j.Directions {
			if total(s.Clat.Bins) != s.TotalIOs || s.TotalIOs != s.Clat.N {
				t.Errorf("%s: %d requests in bins, %d of %d measured", fiolog.Direction(d), total(s.Clat.Bins), s.Clat.N, s.TotalIOs)
			}
			checkBins(t, s.Clat.Layout, s.Clat.Bins)
			h := hist.New(s.Clat.Layout)
			h.AddBins(s.Clat.Layout, s.Clat.Bins)
			for _, p := range s.Clat.Percentiles {
				if v, _ := h.FioPercentile(p.Rank); v != p.Value {
					t.Errorf("%s p%v is %d, fio says %d", fiolog.Direction(d), p.Rank, v, p.Value)
				}
			}
		}
	}
}

func TestReportsOneAfterTheOther(t *testing.T) {
	doc := golden.Gunzip(t, filepath.Join("testdata", "status-interval.json.gz"))
	reports, faults := readReports(iotest.HalfReader(bytes.NewReader(doc)))
	if len(reports) != 11 || len(faults) > 0 {
		t.Fatalf("got %d reports and %q, want 11", len(reports), faults)
	}
	for i, r := range reports[1:] {
		before := reports[i]
		if r.Timestamp <= before.Timestamp || r.Line <= before.Line || total(r.Jobs[0].Directions[fiolog.Read].Clat.Bins) <= total(before.Jobs[0].Directions[fiolog.Read].Clat.Bins) {
			t.Errorf("report %d does not continue the one before", i+2)
		}
	}
	// All of the same on one line, as other tools rewrite it, and with text between.
	compact := bytes.ReplaceAll(doc, []byte("\n"), nil)
	if again, faults := readReports(bytes.NewReader(compact)); len(again) != 11 || len(faults) > 0 || !cmp.Equal(again[10].Jobs, reports[10].Jobs, sameLayout) {
		t.Errorf("on one line: got %d reports, %q", len(again), faults)
	}
	text := bytes.ReplaceAll(doc, []byte("\n}\n{"), []byte("\n}\n{job}: (g=0): rw=read\n{}}: }{\n  { x\n{"))
	if again, faults := readReports(bytes.NewReader(text)); len(again) != 11 || len(faults) > 0 {
		t.Errorf("with text between: got %d reports, %q", len(again), faults)
	}
	for i := range reports { // stops at break
		n := 0
		for range fiolog.ReadReports(bytes.NewReader(doc), "x") {
			if n++; n > i {
				break
			}
		}
		if n != i+1 {
			t.Errorf("got %d reports after %d", n, i+1)
		}
	}
}

func TestReportsDamaged(t *testing.T) {
	const good = "{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n    {\n      \"jobname\" : \"a\"\n    }\n  ]\n}\n"
	tests := []struct {
		name, in string
		reports  int
		faults   []string
	}{
		{"none", "fio: nothing to do\n", 0, nil},
		{"empty", "", 0, nil},
		{"byte order mark", "\xef\xbb\xbf" + good, 1, nil},
		{"stray text before the brace", "> " + good, 1, nil},
		{"stray text, and an error", "> " + good[:60], 0, []string{`x.json:5:10: got the end of the file, want the rest of the JSON document that begins in line 1`}},
		{"a warning without a newline", "fio: out of memory {" + good, 1, nil},
		{"CRLF", strings.ReplaceAll(good, "\n", "\r\n"), 1, nil},
		{"cut", good + good[:60], 1, []string{`x.json:13:10: got the end of the file, want the rest of the JSON document that begins in line 9`}},
		{"cut, and another", good[:60] + "\n" + good, 1, []string{`x.json:6:1: got another document, want the rest of the JSON document that begins in line 1`}},
		{"cut behind a comma, and another", good[:32] + "\n" + good, 1, []string{`x.json:4:1: got another document, want the rest of the JSON document that begins in line 1`}},
		{"bad JSON", "{\n  \"jobs\" : [ oops ]\n}\n" + good, 1, []string{`x.json:2:14: got "oops ]\n}", want JSON`}},
		{"other JSON", "{ \"a\" : 1 }\n" + good, 1, []string{`x.json:1:1: got "{ \"a\" : 1 }", want a report of fio, which has a "fio version" and "jobs"`}},
		{"quote within a string", "{\n \"a\" : \"b\"c\",\n \"d\" : {}\n}\n" + good, 1, []string{`x.json:2:11: got "c\",\n \"d\" : {}\n}", want JSON`}},
		{"flat, as json.tool --indent=0 writes", strings.ReplaceAll(good, "  ", ""), 1, nil},
		{"unknown types", "{\"jobs\": [{\"jobname\": 3, \"read\": 5, \"job options\": [], \"write\": {\"clat_ns\": [], \"iops\": \"x\"}}]}", 1, nil},
		{"jobs are no list", "{\"fio version\": \"fio-3.1\", \"jobs\": {}}", 1, nil},
		{"bin that is none", "{\"jobs\": [{\"jobname\": \"a\", \"read\": {\"clat_ns\": {\"bins\": {\"128\": 1}}}}]}", 0,
			[]string{`x.json:1:1: got job "a": read: clat: bin "128" is none of fio 3, coarseness 0, want a report of fio`}},
		{"bin of text", "{\"jobs\": [{\"read\": {\"clat_ns\": {\"bins\": {\"x\": 1}}}}]}", 0,
			[]string{`x.json:1:1: got job "": read: clat: bin "x" is none of fio 3, coarseness 0, want a report of fio`}},
		{"negative count", "{\"jobs\": [{\"mixed\": {\"lat_ns\": {\"bins\": {\"127\": -1}}}}]}", 0,
			[]string{`x.json:1:1: got job "": mixed: lat: the count of bin "127" is no whole number, want a report of fio`}},
		{"bin twice", "{\"jobs\": [{\"trim\": {\"slat\": {\"bins\": {\"127\": 1, \"127\": 1}}}}]}", 0,
			[]string{`x.json:1:1: got job "": trim: slat: bin 127 comes twice, want a report of fio`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reports, faults := readReports(strings.NewReader(tt.in))
			if len(reports) != tt.reports {
				t.Errorf("got %d reports, want %d", len(reports), tt.reports)
			}
			if d := cmp.Diff(tt.faults, faults); d != "" {
				t.Errorf("errors (-want +got):\n%s", d)
			}
		})
	}
}

func TestReportsSourceFails(t *testing.T) {
	broken := errors.New("broken pipe")
	doc := golden.Gunzip(t, filepath.Join("testdata", "two-jobs.txt.gz"))
	reports, faults := readReports(io.MultiReader(bytes.NewReader(doc), iotest.ErrReader(broken)))
	if d := cmp.Diff([]string{"read x.json: broken pipe"}, faults); len(reports) != 1 || d != "" {
		t.Errorf("got %d reports; errors (-want +got):\n%s", len(reports), d)
	}
}

func TestReportNotNumbers(t *testing.T) {
	const doc = `{"fio version": "fio-2.1", "jobs": [{"jobname": "nan -inf", "read": {"iops": nan, "total_ios": 7, "clat_ns": {"mean": -nan, "stddev": inf, "max": Infinity, "min": -nan(ind)}}}]}`
	reports, faults := readReports(strings.NewReader(doc))
	if len(reports) != 1 || len(faults) > 0 {
		t.Fatalf("got %d reports and %q", len(reports), faults)
	}
	j := reports[0].Jobs[0]
	if j.Name != "nan -inf" || j.Directions[fiolog.Read].TotalIOs != 7 || j.Directions[fiolog.Read].IOPS != 0 || j.Directions[fiolog.Read].Clat.Mean != 0 {
		t.Errorf("got %+v", j)
	}
}

// TestPercentilesNotNumbers: a percentile that is not a number is not known, and others are.
func TestPercentilesNotNumbers(t *testing.T) {
	const doc = `{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "read": {"clat_ns": {
		"percentile": {"1.0": null, "5.0": "none", "10.0": {"x": 1}, "20.0": [7], "30.0": true, "40.0": "", "50.0": 20, "90.0": "0", "99.0": "30"}}}}]}`
	reports, faults := readReports(strings.NewReader(doc))
	if len(reports) != 1 || len(faults) > 0 {
		t.Fatalf("got %d reports and %q", len(reports), faults)
	}
	want := []fiolog.Percentile{{50, 20}, {90, 0}, {99, 30}}
	if d := cmp.Diff(want, reports[0].Jobs[0].Directions[fiolog.Read].Clat.Percentiles); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestReportFio2(t *testing.T) {
	const doc = `{"fio version": "fio-2.21", "timestamp": 1500000000, "jobs": [{"jobname": "a", "usr_cpu": "1.5",
		"read": {"io_bytes": 4, "bw": 3, "runtime": 2000, "total_ios": "5", "clat": {"min": 3, "max": 1000, "mean": 1.5, "stddev": 0.5,
			"percentile": {"50.000000": 4, "0.00": 0, "99.000000": 1004}, "bins": {"1004": 2, "3": 1, "4": 0}}}}]}`
	reports, faults := readReports(strings.NewReader(doc))
	if len(reports) != 1 || len(faults) > 0 {
		t.Fatalf("got %d reports and %q", len(reports), faults)
	}
	want := &fiolog.Report{
		Version: "fio-2.21", Timestamp: 1500000000000, Line: 1, Bytes: len(doc), Memory: reports[0].Memory, Unit: hist.Microseconds,
		Jobs: []fiolog.Job{{Name: "a", Runtime: 2000, UsrCPU: 1.5, Directions: [fiolog.Directions]fiolog.DirectionStats{fiolog.Read: {
			IOBytes: 4096, BandwidthBytes: 3072, Runtime: 2000, TotalIOs: 5,
			Clat: fiolog.Latency{
				Min: 3000, Max: 1000000, Mean: 1500, StdDev: 500, Layout: hist.Fio2(0),
				Percentiles: []fiolog.Percentile{{50, 4000}, {99, 1004000}}, Step: 1000, PercentileStep: 1000,
				Bins: []hist.Bin{{Index: 3, Count: 1}, {Index: 317, Count: 2}},
			},
		}}}},
	}
	if d := cmp.Diff(want, reports[0], sameLayout); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	// Up to 2.19 the keys are indexes, with three others among them.
	older := strings.Replace(doc, `"1004": 2,`, `"FIO_IO_U_PLAT_NR": 1216, "317": 2, "FIO_IO_U_PLAT_BITS": 6,`, 1)
	reports, faults = readReports(strings.NewReader(older))
	if len(reports) != 1 || len(faults) > 0 || !cmp.Equal(want.Jobs, reports[0].Jobs, sameLayout) {
		t.Errorf("got %d reports and %q", len(reports), faults)
	}
}

func TestReportClients(t *testing.T) {
	const doc = `{"fio version": "fio-3.36", "client_stats": [
		{"jobname": "a", "hostname": "h1", "job_start": 1700000000123, "mixed": {"total_ios": 18446744073709551615}},
		{"jobname": "All clients", "job_runtime": 99999999999999999999}]}`
	reports, faults := readReports(strings.NewReader(doc))
	if len(reports) != 1 || len(faults) > 0 {
		t.Fatalf("got %d reports and %q", len(reports), faults)
	}
	want := []fiolog.Job{
		{Name: "a", Host: "h1", Start: 1700000000123, Mixed: &fiolog.DirectionStats{TotalIOs: 1<<64 - 1}},
	}
	if d := cmp.Diff(want, reports[0].Jobs, sameLayout); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestReportOfNoGroup: if only some sections of a group have group_reporting, fio 3 adds an entry that is of no job.
func TestReportOfNoGroup(t *testing.T) {
	const doc = `{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "groupid": 0}, {"groupid": 4294967295, "elapsed": 7, "read": {"total_ios": 0}}]}`
	reports, faults := readReports(strings.NewReader(doc))
	if len(reports) != 1 || len(faults) > 0 || len(reports[0].Jobs) != 1 || reports[0].Jobs[0].Name != "a" {
		t.Errorf("got %+v and %q", reports, faults)
	}
}

// TestReportClientOptions: the options that are global on a client are those of its jobs.
func TestReportClientOptions(t *testing.T) {
	const doc = `{"fio version": "fio-3.42", "global options": [
		{"hostname": "h1", "port": 8765, "bs": "4k", "rw": "read"}, {"hostname": "h1", "port": 8766, "bs": "8k"}],
		"client_stats": [
		{"jobname": "a", "hostname": "h1", "port": 8765, "job options": {"rw": "write"}},
		{"jobname": "b", "hostname": "h1", "port": 8766},
		{"jobname": "c", "hostname": "h2", "port": 8765}]}`
	reports, faults := readReports(strings.NewReader(doc))
	if len(reports) != 1 || len(faults) > 0 {
		t.Fatalf("got %d reports and %q", len(reports), faults)
	}
	want := []map[string]string{{"bs": "4k", "rw": "write"}, {"bs": "8k"}, nil}
	for i, w := range want {
		if d := cmp.Diff(w, reports[0].Jobs[i].Options); d != "" {
			t.Errorf("job %d: -want +got:\n%s", i, d)
		}
	}
}

// TestReportOneTable: where fio has one table of latencies, lat_percentiles says which latencies it has.
func TestReportOneTable(t *testing.T) {
	const clat, lat = `"percentile": {"50.0": 20}, "bins": {"20": 3}`, ""
	for _, c := range []struct {
		version, option, clat, lat        string
		clatBins, latBins, latPercentiles int
	}{
		{"fio-3.1", "1", clat, lat, 0, 1, 1},
		{"fio-3.7", "", `"percentile": {"50.0": 20}`, `"bins": {"20": 3}`, 0, 1, 1},
		{"fio-3.7", "0", clat, lat, 1, 0, 0},
		{"fio-3.33", "1", clat, clat, 1, 1, 1},
	} {
		doc := fmt.Sprintf(`{"fio version": %q, "jobs": [{"jobname": "a", "job options": {"lat_percentiles": %q},
			"read": {"total_ios": 3, "clat_ns": {%s}, "lat_ns": {%s}}}]}`, c.version, c.option, c.clat, c.lat)
		reports, faults := readReports(strings.NewReader(doc))
		if len(reports) != 1 || len(faults) > 0 {
			t.Fatalf("got %d reports and %q", len(reports), faults)
		}
		s := reports[0].Jobs[0].Directions[fiolog.Read]
		if len(s.Clat.Bins) != c.clatBins || len(s.Lat.Bins) != c.latBins || len(s.Lat.Percentiles) != c.latPercentiles {
			t.Errorf("%s, lat_percentiles=%s: %+v", c.version, c.option, s)
		}
	}
}

func BenchmarkReports(b *testing.B) {
	doc := golden.Gunzip(b, filepath.Join("testdata", "status-interval.json.gz"))
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, faults := readReports(bytes.NewReader(doc)); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

func FuzzReports(f *testing.F) {
	f.Add(`text {` + "\n" + `{"fio version": "fio-3.33", "jobs": [{"read": {"clat_ns": {"mean": nan, "percentile": {"50.0": 1}, "bins": {"64": 2}}}}]} x` + "\n{\n")
	f.Add("{\n\"client_stats\" : [\n{\n\"x\" : \"\\\"}\"}]}{}{\"jobs\": []}")
	for _, format := range []fiolog.Format{fiolog.Normal, fiolog.Terse} {
		f.Add(only(fioText(f, "3.42-trim"), format))
		f.Add(only(fioText(f, "2.21-mixed"), format))
	}
	f.Add("{\n> t: (groupid=0, jobs=2): err= 0: pid=1: x\r  mixed: IOPS=1.2k, BW=1MiB/s (1MB/s)(1MiB/1msec)\n")
	f.Fuzz(func(t *testing.T, s string) {
		reports, faults := readReports(strings.NewReader(s))
		again, againFaults := readReports(iotest.OneByteReader(strings.NewReader(s)))
		if len(reports) != len(again) || !cmp.Equal(faults, againFaults) {
			t.Fatalf("%d reports and %q, byte by byte %d and %q", len(reports), faults, len(again), againFaults)
		}
		for _, r := range reports {
			for _, j := range r.Jobs {
				for _, d := range j.Directions {
					if d.Runtime < 0 || d.IOPS < 0 || d.Clat.Min < 0 || d.Clat.Mean < 0 || r.Format != fiolog.JSON && len(d.Clat.Bins) > 0 {
						t.Fatalf("%v: %+v", r.Format, d)
					}
					checkBins(t, d.Clat.Layout, d.Clat.Bins)
					if got, want := d.Clat.Histogram(20).Total(), d.Clat.Histogram(0).Total(); got != want {
						t.Fatalf("%v requests in fewer groups, want %v", got, want)
					}
				}
			}
		}
	})
}

// TestRewritten: programs that write reports again sort their keys, and put several into a list.
func TestRewritten(t *testing.T) {
	const first = `{"jobs":[{"read":{"total_ios":7},"jobname":"a"}],"timestamp_ms":1700000000000,"fio version":"fio-3.33"}`
	second := strings.ReplaceAll(first, "7", "8")
	for _, text := range []string{
		"[" + first + "," + second + "]", "[\n  " + first + ",\n  " + second + "\n]\n", "[ " + first + " , " + second + " ]", first + "\n" + second,
	} {
		var got []uint64
		for r, err := range fiolog.ReadReports(strings.NewReader(text), "x") {
			if err != nil || r.Version == "" {
				t.Fatalf("%s: %v", text, err)
			}
			got = append(got, r.Jobs[0].Directions[fiolog.Read].TotalIOs)
		}
		if !slices.Equal(got, []uint64{7, 8}) {
			t.Errorf("%s: %v", text, got)
		}
	}
}
