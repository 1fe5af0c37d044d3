package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestSLA: rules are a list in the settings file, and joined by commas in the environment, because rules contain none.
// Rules of flags replace them, each taken literally.
func TestSLA(t *testing.T) {
	const file = "sla:\n  - p99 <= 10ms\n  - within 100ms >= 99.9% in every window\n"
	for _, c := range []struct {
		file, env string
		flags     []string
		want      []string
	}{
		{"", "", nil, nil},
		{file, "", nil, []string{"p99 <= 10ms", "within 100ms >= 99.9% in every window"}},
		{"sla: p99 > 1us", "", nil, []string{"p99 > 1us"}},
		{file, "write.iops >= 5k,p50<1ms", nil, []string{"write.iops >= 5k", "p50<1ms"}},
		{file, "iops > 1", []string{"p99 <= 10,5ms", `max < "1s"`}, []string{"p99 <= 10,5ms", `max < "1s"`}},
	} {
		env := map[string]string{}
		if c.env != "" {
			env["FIO2ES_SLA"] = c.env
		}
		if _, err := load(t, c.file, env); err != nil {
			t.Fatal(err)
		}
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		flags.StringArray("rule", nil, "")
		for _, rule := range c.flags {
			if err := flags.Set("rule", rule); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Load("", flags)
		if err != nil || !slices.Equal(got.SLA, c.want) {
			t.Errorf("%+v: %q, %v", c, got.SLA, err)
		}
	}
	if _, err := load(t, "sla:\n  p99: 10ms\n", nil); err == nil || !strings.Contains(err.Error(), "sla") {
		t.Errorf("a map: %v", err)
	}
}
