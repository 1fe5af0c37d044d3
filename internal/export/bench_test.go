package export

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// measured returns windows of a second of the completions that logs of the corpus have, each folder as one run.
func measured(b *testing.B) (runs []exported) {
	names, err := filepath.Glob("../../testdata/corpus/*/*_clat.*.log.gz")
	if err != nil || len(names) == 0 {
		b.Fatal(names, err)
	}
	type place struct {
		second, direction int
	}
	byFolder := map[string]map[place]*hist.Histogram{}
	for _, name := range names {
		in, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			b.Fatal(err)
		}
		windows := byFolder[filepath.Dir(name)]
		if windows == nil {
			windows = map[place]*hist.Histogram{}
			byFolder[filepath.Dir(name)] = windows
		}
		for lines := bufio.NewScanner(unpacked); lines.Scan(); { // milliseconds, nanoseconds, direction
			var numbers [3]int
			for i, text := range strings.SplitN(lines.Text(), ",", 4)[:3] {
				if numbers[i], err = strconv.Atoi(strings.TrimSpace(text)); err != nil {
					b.Fatal(name, err)
				}
			}
			at := place{numbers[0] / 1000, numbers[2]}
			if windows[at] == nil {
				windows[at] = hist.New(hist.Fio3(0))
			}
			windows[at].AddLatency(int64(numbers[1]), 1)
		}
		in.Close()
	}
	for folder, windows := range byFolder {
		run := exported{RunInfo: mapping.RunInfo{Name: filepath.Base(folder), Start: time.Unix(1.7e9, 0)}}
		for at, h := range windows {
			if at.second > 1000 { // times since 1970
				continue
			}
			from := run.Start.Add(time.Duration(at.second) * time.Second)
			run.windows = append(run.windows, given{window.Window{
				Run: &run.RunInfo, Level: mapping.Cluster, Direction: mapping.Directions[at.direction], Start: from, End: from.Add(time.Second),
			}, h})
		}
		slices.SortFunc(run.windows, func(x, y given) int { return x.Start.Compare(y.Start) })
		if len(run.windows) > 0 {
			runs = append(runs, run)
		}
	}
	return runs
}

// BenchmarkFormats measures windows of a second in each format: bytes of a window, plain and in zstd, and nanoseconds to write
// and to read it.
func BenchmarkFormats(b *testing.B) {
	runs := measured(b)
	windows := 0
	for _, r := range runs {
		windows += len(r.windows)
	}
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, format := range Formats {
		write := func() (texts [][]byte) {
			for i := range runs {
				var out bytes.Buffer
				if err := writeRuns(New(format, &out, OpenMetricsOptions{Windows: true, Buckets: Buckets{all: true}}), runs[i:i+1]); err != nil {
					b.Fatal(err)
				}
				texts = append(texts, out.Bytes())
			}
			return texts
		}
		texts := write()
		plain, packed := 0, 0
		for _, text := range texts {
			plain, packed = plain+len(text), packed+len(pack.EncodeAll(text, nil))
		}
		b.Run(format+"/write", func(b *testing.B) {
			for b.Loop() {
				write()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*windows), "ns/window")
			b.ReportMetric(float64(plain)/float64(windows), "bytes/window")
			b.ReportMetric(float64(packed)/float64(windows), "zstd/window")
		})
		if format == "openmetrics" || format == "ddsketch" { // are not read
			continue
		}
		b.Run(format+"/read", func(b *testing.B) {
			for b.Loop() {
				for _, text := range texts {
					if _, err := Read("x", io.Reader(bytes.NewReader(text)), ReadOptions{}); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*windows), "ns/window")
		})
	}
}
