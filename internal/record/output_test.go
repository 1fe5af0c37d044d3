package record

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// written returns what fio writes in some formats, with this number of reports.
func written(reports int, normal, terse bool) string {
	var b strings.Builder
	b.WriteString("fio-3.33\nStarting 1 process\n")
	for i := 1; i <= reports; i++ {
		if terse {
			fmt.Fprintf(&b, "3;fio-3.33;a;%d\n", i)
		}
		b.WriteString(jsonOf(i, true))
		if normal {
			fmt.Fprintf(&b, "\na: (groupid=0): report %d\n\nRun status group 0 (all jobs):\n", i)
		}
		if i == 2 {
			b.WriteString("fio: a message\n")
		}
	}
	return b.String()
}

// jsonOf returns a report in JSON. With bins, these are the last member of their object.
func jsonOf(i int, bins bool) string {
	plus, comma := "", ""
	if bins {
		plus, comma = "      \"bins\" : {\n        \"20\" : 1,\n        \"30\" : 2\n      }\n", ","
	}
	first := strings.ReplaceAll(plus, "      }\n", "      },\n")
	return fmt.Sprintf("{\n  \"n\" : %d,\n  \"a\" : {\n    \"read\" : {\n      \"N\" : 3%s\n%s    },\n    \"write\" : {\n%s      \"N\" : 3\n    }\n  }\n}\n",
		i, comma, plus, first)
}

func TestOutput(t *testing.T) {
	const head, message = "fio-3.33\nStarting 1 process\n", "fio: a message\n"
	normal := func(i int) string {
		return fmt.Sprintf("\na: (groupid=0): report %d\n\nRun status group 0 (all jobs):\n", i)
	}
	for _, tt := range []struct {
		options string
		ended   bool
		from    string
		want    string
	}{
		{"", true, written(3, true, false), head + message + normal(3)},
		{"", false, written(3, true, false), head + message},
		{"--output-format=json", true, written(3, false, false), head + message + jsonOf(3, false)},
		{"--output-format=json+", true, written(3, false, false), head + message + jsonOf(3, true)},
		{"--output-format=json,normal", true, written(3, true, false), head + message + jsonOf(3, false) + normal(3)},
		{"--output-format=json", false, written(3, false, false) + "{\n  \"cut", head + message},
		{"--minimal", true, written(3, false, true), head + message + "3;fio-3.33;a;3\n"},
		{"--append-terse", true, written(1, true, true), head + "3;fio-3.33;a;1\n" + normal(1)},
		{"--status-interval=1", true, written(2, true, false), head + normal(1) + normal(2) + message},
		{"--status-interval=1 --output-format=json+", true, written(2, false, false), written(2, false, false)},
		{"", true, "fio: unable to open job file\n", "fio: unable to open job file\n"},
	} {
		t.Run(tt.options, func(t *testing.T) {
			c, err := fioargs.Parse(strings.Fields("fio --name=a "+tt.options), os.ReadFile)
			if err != nil {
				t.Fatal(err)
			}
			how := outputOf(c)
			_, how.All = c.Own("status-interval")
			var got strings.Builder
			if err := how.Copy(&got, strings.NewReader(tt.from), tt.ended); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCutOutput: the report before an incomplete one does not count as the final one.
func TestCutOutput(t *testing.T) {
	for _, last := range []string{"{\n  \"cut", "{\n", jsonOf(4, true) + "\na: (groupid=0): repo"} {
		var got strings.Builder
		err := (&Output{Formats: []string{"normal"}}).Copy(&got, strings.NewReader(written(3, true, false)+last), true)
		if want := "fio-3.33\nStarting 1 process\nfio: a message\n"; !errors.Is(err, ErrCut) || !strings.HasPrefix(got.String(), want) || strings.Contains(got.String(), "report 3") {
			t.Errorf("%q: %v, %q", last, err, &got)
		}
	}
}
