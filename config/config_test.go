package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/align"
)

// load reads settings from a file's text, variables and flags.
func load(t *testing.T, file string, env map[string]string, args ...string) (Config, error) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("XDG_DATA_HOME", "/data")
	for _, entry := range os.Environ() {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, envPrefix) {
			t.Setenv(name, value) // restores it
			os.Unsetenv(name)
		}
	}
	for k, v := range env {
		t.Setenv(k, v)
	}
	if file != "" {
		if err := os.WriteFile(filepath.Join(dir, "fio2es.yaml"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.String("interval", "", "")
	flags.String("weighting", "inflight", "")
	flags.StringToString("labels", nil, "")
	flags.StringSlice("levels", nil, "")
	flags.StringSlice("elasticsearch", nil, "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return Load("", flags)
}

func TestPrecedence(t *testing.T) {
	env := map[string]string{"FIO2ES_INTERVAL": "20s", "FIO2ES_LABELS": "disk=nvme,osd=Blue", "FIO2ES_LEVELS": "job", "FIO2ES_TEST_X": "1"}
	c, err := load(t, "interval: 30s\nweighting: completion\nthreads: 3\n", env, "--interval=10s")
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.History = "/data/fio2es/history.db"
	want.Interval, want.Weighting, want.Threads = "10s", "completion", 3
	want.Labels, want.Levels = map[string]string{"disk": "nvme", "osd": "Blue"}, []string{"job"}
	here, err := filepath.Abs("fio2es.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want.Origins = map[string]string{"interval": "--interval", "weighting": here, "threads": here, "labels": "FIO2ES_LABELS", "levels": "FIO2ES_LEVELS"}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestFlagsWithMaps(t *testing.T) {
	c, err := load(t, "", nil, "--labels=osd=Blue,disk=nvme", "--levels=cluster,job")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"osd": "Blue", "disk": "nvme"}, c.Labels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"cluster", "job"}, c.Levels); diff != "" {
		t.Error(diff)
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := load(t, "weighting: heavy\ntolerance: 0.9\nalign: left\nthreads: -1\noffset:\n  a: soon\ncolour: blue\ninflight: some\nsource: guess\ninterval: 1us\nprecision: good\ngroups: 99\nunit: ms\nmethod: none\n",
		map[string]string{"FIO2ES_SIZE": "1"})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"weighting: want", "tolerance: want", "align: want", "threads: want", "offset: want", "colour is no setting",
		"FIO2ES_SIZE is no setting", "inflight: want", "interval: want", "source: want", "precision: want", "method: want interpolated or fio",
		"groups: want between 17 and 64", "unit: want ns (fio 3) or us (fio 2)",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
}

func TestNoSuchFile(t *testing.T) {
	if _, err := Load("/nonexistent/fio2es.yaml", pflag.NewFlagSet("", pflag.ContinueOnError)); err == nil {
		t.Error("no error")
	}
}

// TestWhichFile: the program itself, which may be in the same folder, is not a settings file.
func TestWhichFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []struct {
		name, text string
		threads    int
	}{
		{"fio2es", "\x7fELF\x02\x01\x00", 0}, {"fio2es.json", "{", 0},
		{"fio2es/fio2es.yaml", "threads: 1", 1}, {"fio2es.yml", "threads: 2", 2}, {"fio2es.yaml", "threads: 3", 3},
	} {
		if file.name == "fio2es/fio2es.yaml" {
			_ = os.Remove("fio2es")
		}
		write(file.name, file.text)
		c, err := Load("", pflag.NewFlagSet("", pflag.ContinueOnError))
		if err != nil || c.Threads != file.threads {
			t.Errorf("after %s: threads %d, %v", file.name, c.Threads, err)
		}
	}
	write("fio2es.yaml", "threads: [")
	if _, err := Load("", pflag.NewFlagSet("", pflag.ContinueOnError)); err == nil || !strings.Contains(err.Error(), "fio2es.yaml") {
		t.Errorf("the file is not named: %v", err)
	}
}

func TestOptions(t *testing.T) {
	c := Default()
	c.Weighting, c.InFlight, c.Tolerance, c.Align = "completion", "all", 0, "job"
	c.Groups, c.Unit = 24, "us"
	c.Levels, c.Start, c.Offset = []string{"host"}, "2026-01-31T09:12:00Z", map[string]string{"a": "-250"}
	got, err := c.Options()
	if err != nil {
		t.Fatal(err)
	}
	want := pipeline.Options{
		Source: pipeline.SourceHist, Weighting: align.Completion, SpreadAll: true, Tolerance: -1, Align: pipeline.AlignJob, Levels: []mapping.Level{mapping.Host},
		Bins:  hist.Hint{Unit: hist.Microseconds, Groups: 24},
		Start: time.Date(2026, 1, 31, 9, 12, 0, 0, time.UTC), Offsets: map[string]time.Duration{"a": -250 * time.Millisecond},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLabelWithoutName(t *testing.T) {
	if _, err := load(t, "", nil, "--labels==x"); err == nil || !strings.Contains(err.Error(), "labels") {
		t.Errorf("got %v", err)
	}
}

func TestInterval(t *testing.T) {
	for text, want := range map[string]string{`""`: "", "1500ms": "1500ms", "1h0m1.5s": "1h0m1.5s", "auto": Auto} {
		c, err := load(t, "interval: "+text, nil)
		if err != nil || c.Interval != want {
			t.Errorf("%s: %v, %v", text, c.Interval, err)
		}
		if got := Settings(c)["interval"]; got != want {
			t.Errorf("%s is shown as %v", text, got)
		}
	}
	for _, text := range []string{"fast", "10", "0", "0s", "-1ns", "-5s", "automatic"} {
		if c, err := load(t, "", nil, "--interval="+text); err == nil || !strings.Contains(err.Error(), "interval") {
			t.Errorf("%s: %v, %v", text, c.Interval, err)
		}
	}
}

func TestPrecision(t *testing.T) {
	for text, want := range map[string]align.Precision{"p99:10%": {Quantile: 0.99, Error: 0.1}, "p50:0.5%": {Quantile: 0.5, Error: 0.005}} {
		c, err := load(t, "interval: auto\nprecision: "+text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if opt, err := c.Options(); err != nil || opt.Precision != want || opt.Window != 0 {
			t.Errorf("%s: %+v, %v", text, opt, err)
		}
	}
	for _, text := range []string{"p99", "99:10%", "p100:10%", "p99:10", "p99:-1%", "pNaN:1%", "p50:NaN%"} {
		if _, err := load(t, "precision: "+text, nil); err == nil || !strings.Contains(err.Error(), "precision") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if opt, err := (&Config{Analysis: Analysis{Interval: "1s"}}).Options(); opt.Precision != (align.Precision{}) || opt.Window != time.Second {
		t.Errorf("%+v, %v", opt, err)
	}
}

// TestWaits: how long to wait is a variable or an entry of a file; 0 is not to wait,
// and a number without a unit is an error.
func TestWaits(t *testing.T) {
	type waits struct{ request, giveUp time.Duration }
	for _, c := range []struct {
		env  map[string]string
		want waits
	}{
		{nil, waits{90 * time.Second, 5 * time.Minute}},
		{map[string]string{"FIO2ES_ELASTICSEARCH_REQUEST_TIMEOUT": "30s", "FIO2ES_ELASTICSEARCH_GIVE_UP_AFTER": "2h"}, waits{30 * time.Second, 2 * time.Hour}},
		{map[string]string{"FIO2ES_ELASTICSEARCH_GIVE_UP_AFTER": "0s"}, waits{90 * time.Second, -1}},
	} {
		got, err := load(t, "", c.env)
		if err != nil {
			t.Fatal(err)
		}
		client, err := got.Elasticsearch.Client()
		if (waits{client.Timeout, client.GiveUpAfter}) != c.want || err != nil {
			t.Errorf("%v, %v; want %v", client, err, c.want)
		}
		shown := Settings(got)["elasticsearch"].(map[string]any)
		if want := got.Elasticsearch.RequestTimeout.String(); shown["request_timeout"] != want {
			t.Errorf("%v is shown as %v", want, shown["request_timeout"])
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"REQUEST_TIMEOUT", "0s", "FIO2ES_ELASTICSEARCH_REQUEST_TIMEOUT: want a time between"}, {"REQUEST_TIMEOUT", "2h", "FIO2ES_ELASTICSEARCH_REQUEST_TIMEOUT: want a time between"},
		{"REQUEST_TIMEOUT", "soon", "FIO2ES_ELASTICSEARCH_REQUEST_TIMEOUT: want a time such as"},
		{"GIVE_UP_AFTER", "-5m", "FIO2ES_ELASTICSEARCH_GIVE_UP_AFTER: want a time of at least 1s"}, {"GIVE_UP_AFTER", "300", "FIO2ES_ELASTICSEARCH_GIVE_UP_AFTER: want a time such as"},
	} {
		if _, err := load(t, "", map[string]string{"FIO2ES_ELASTICSEARCH_" + c.name: c.value}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
}
