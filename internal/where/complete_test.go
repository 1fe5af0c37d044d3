package where

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
)

// completed returns runs whose settings are suggested.
func completed() []*mapping.Run {
	a := &mapping.Run{
		Run:    mapping.RunInfo{ID: "a1", Start: now, End: now.Add(90 * time.Second), Labels: map[string]string{"release": "reef", "site": "lab 2", "my rack": "7"}, Complete: true},
		CBT:    mapping.CBT{Mode: "randread", OpSize: 4096, IODepth: 1, OSDReadAhead: 4096, RunSeconds: 300},
		Fio:    mapping.FioInfo{Options: map[string]string{"ioengine": "libaio", "iodepth_batch": "4"}},
		Config: map[string]any{"pool": map[string]any{"pg": 256.0}},
	}
	b := &mapping.Run{
		Run: mapping.RunInfo{ID: "b2", Start: now.AddDate(0, -1, 0), End: now, Labels: map[string]string{"release": `the "new" one`}},
		CBT: mapping.CBT{Mode: "randwrite", OpSize: 65536, IODepth: 16, OSDReadAhead: 128},
	}
	return []*mapping.Run{a, b}
}

func TestSuggest(t *testing.T) {
	for text, want := range map[string]string{
		"mo":                      "mode",
		"mode":                    "mode= mode!= mode~ mode!~ mode",
		"iodepth":                 "iodepth= iodepth!= iodepth< iodepth<= iodepth> iodepth>= iodepth",
		"qd=":                     "qd=1 qd=16",
		"qd=1":                    "qd=1 qd=16",
		"bs=4k and MODE=RANDW":    "bs=4k and MODE=randwrite",
		"bs=":                     "bs=4KiB bs=64KiB",
		"osd_ra = ":               "osd_ra = 128KiB|osd_ra = 4MiB",
		"mode ":                   "mode =|mode !=|mode ~|mode !~|mode in (|mode and |mode or ",
		"mode=randread ":          "mode=randread and |mode=randread or ",
		"mode=randread a":         "mode=randread and ",
		"mode in (randread, ":     "mode in (randread, randread|mode in (randread, randwrite",
		"mode in (randread ":      "",
		"mode in ":                "",
		"not (live or label.r":    "not (live or label.r=|not (live or label.r!=|not (live or label.r~|not (live or label.r!~|not (live or label.release",
		"'label.":                 "'label.my rack'|'label.release'|'label.site'",
		`"la`:                     `"label.`,
		"'label.my rack'":         "'label.my rack'",
		"'label.my rack'=":        "'label.my rack'=7",
		"label.r":                 "label.r=|label.r!=|label.r~|label.r!~|label.release",
		"label.release=":          `label.release=reef|label.release='the "new" one'`,
		`label.site="la`:          `label.site="lab 2"`,
		"option.io":               "option.io=|option.io!=|option.io~|option.io!~|option.iodepth_batch|option.ioengine",
		"config.":                 "config.pool.pg",
		"config.pool.pg=":         "config.pool.pg=256",
		"complete=":               "complete=yes complete=no",
		"write.p99 > ":            "write.p99 > 5ms",
		"start >= ":               "start >= today|start >= yesterday|start >= 7d|start >= 30d|start >= 2026-09|start >= 2026-10",
		"nosuch=":                 "",
		"nosuch ":                 "",
		"mode=randread mode":      "",
		"mode == == ":             "",
		"and ":                    "",
		"note='not closed and mo": "",
	} {
		var got []string
		for _, s := range Suggest(text, completed) {
			got = append(got, s.Text)
		}
		list := strings.Split(want, "|")
		if len(list) == 1 && !strings.Contains(text, " ") && !strings.Contains(text, `"`) {
			list = strings.Fields(want)
		}
		if want == "" {
			list = nil
		}
		if !slices.Equal(got, list) {
			t.Errorf("%s: %q, want %q", text, got, list)
		}
	}
}

// TestSuggestValues: each suggested value selects a run, and each run is selected by one of them.
func TestSuggestValues(t *testing.T) {
	runs := completed()
	for _, f := range append(slices.Clone(Fields), Lookup("label.release"), Lookup("label.site"), Lookup("option.ioengine"), Lookup("config.pool.pg")) {
		found := map[*mapping.Run]bool{}
		for _, s := range Suggest(f.Name+"=", completed) {
			c, err := Parse(s.Text, now)
			if err != nil {
				t.Errorf("%s: %v", s.Text, err)
				continue
			}
			n := 0
			for _, run := range runs {
				if c.Matches(run) {
					found[run] = true
					n++
				}
			}
			if want := fmt.Sprintf("%d run", n); s.Help != "" && !strings.HasPrefix(s.Help, want) {
				t.Errorf("%s finds %d, and says %s", s.Text, n, s.Help)
			}
		}
		for _, run := range runs {
			if len(f.Values(run)) > 0 && f.Kind != Latency && f.Kind != Rate && f.Kind != Bandwidth && !found[run] {
				t.Errorf("no value of %s finds %s", f.Name, run.Run.ID)
			}
		}
	}
}

// TestSuggestAnything: each suggestion begins with the text. If Parse refuses a suggestion, the reason is only that
// it is not finished.
func TestSuggestAnything(t *testing.T) {
	words := []string{"mode", "qd", "=", "in", "(", ")", ",", "and", "or", "not", " ", "'", `"`, "4k", "randread", "label.", "é", "~", "!"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "words"), "")
		for _, s := range Suggest(text, completed) {
			if len(s.Text) < len(text) || !strings.EqualFold(s.Text[:len(text)], text) {
				t.Fatalf("%q does not begin with %q", s.Text, text)
			}
		}
	})
}
