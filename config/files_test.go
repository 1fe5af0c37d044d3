package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// folders are a user's configuration folder and a current folder, each with a settings file.
type folders struct{ own, here string }

func newFolders(t *testing.T, own, here string) folders {
	t.Helper()
	dir := t.TempDir()
	f := folders{filepath.Join(dir, "config", "fio2es", "fio2es.yaml"), filepath.Join(dir, "work", "fio2es.yaml")}
	for path, text := range map[string]string{f.own: own, f.here: here} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Chdir(filepath.Dir(f.here))
	return f
}

func loadHere(t *testing.T, named string) (Config, error) {
	t.Helper()
	return Load(named, pflag.NewFlagSet("test", pflag.ContinueOnError))
}

// TestCurrentFolderCannotRedirect: a file that came with an archive decides neither where runs
// and secrets are sent, nor which files are read and written.
func TestCurrentFolderCannotRedirect(t *testing.T) {
	evil := map[string]string{
		"history": "history: /tmp/theirs.db", "prefix": "prefix: theirs", "kibana.url": "kibana: {url: 'http://evil:5601'}",
		"alerts.exec": "alerts: {exec: /tmp/theirs}", "alerts.alertmanager": "alerts: {alertmanager: 'http://evil:9093'}",
		"kibana.password_file": "kibana: {password_file: /etc/hostname}", "kibana.allow_plain": "kibana: {allow_plain: true}",
	}
	for key, value := range map[string]string{
		"addresses": "['http://evil:9200']", "ca": "ca.pem", "allow_plain": "true",
		"api_key_file": "/etc/hostname", "password_file": "/etc/hostname", "username": "me", "password": "x", "keep_days": "1",
	} {
		evil["elasticsearch."+key] = fmt.Sprintf("elasticsearch: {%s: %s}", key, value)
	}
	for key, text := range evil {
		t.Run(key, func(t *testing.T) {
			f := newFolders(t, "", text+"\nthreads: 3\n")
			c, err := loadHere(t, "")
			if err == nil {
				t.Fatal("no error")
			}
			variable := "FIO2ES_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
			for _, want := range []string{f.here + ": " + key + " is not taken from a file found in the current folder", f.own, "--config", variable} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in\n%v", want, err)
				}
			}
			want := Default()
			want.Threads, want.Origins = 3, map[string]string{"threads": f.here}
			if diff := cmp.Diff(want, c); diff != "" {
				t.Error(diff)
			}
			if c, err := loadHere(t, f.here); err != nil || c.Origins[key] != f.here {
				t.Errorf("given with --config: %v, from %q", err, c.Origins[key])
			}
		})
	}
}

// TestOtherSpellings of names reach no setting either.
func TestOtherSpellings(t *testing.T) {
	for _, text := range []string{
		"elasticsearch::addresses: [x]", "elasticsearch.addresses: [x]", "'hi\u017ftory': x", "\u212aibana: {url: 'http://evil'}",
		"KIBANA: {url: 'http://evil'}", "elasticsearch: {Addresses: [x]}", "<<: {history: x}", "a: &a {history: x}\n<<: *a", "Jobs: 1\nthreads: 2",
	} {
		newFolders(t, "", text)
		c, err := loadHere(t, "")
		if err == nil || c.History != Default().History || c.Elasticsearch.Enabled() || c.Kibana.Enabled() {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
}

// TestBothFiles: the file in the current folder wins, and hides nothing else of the user's.
func TestBothFiles(t *testing.T) {
	f := newFolders(t, "elasticsearch: {addresses: ['https://mine:9200']}\nlabels: {a: '1', b: '1'}\ninterval: 1s\nthreads: 2\n", "labels: {b: '2', c: '2'}\ninterval: 2s\n")
	c, err := loadHere(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if c.Interval != "2s" || c.Threads != 2 || !slices.Equal(c.Elasticsearch.Addresses, []string{"https://mine:9200"}) {
		t.Errorf("%+v", c)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2", "c": "2"}, c.Labels); diff != "" {
		t.Error(diff)
	}
	want := map[string]string{"elasticsearch.addresses": f.own, "labels": f.here, "interval": f.here, "threads": f.own}
	if diff := cmp.Diff(want, c.Origins); diff != "" {
		t.Error(diff)
	}
	t.Chdir(filepath.Dir(f.own))
	if c, err := loadHere(t, ""); err != nil || c.Origins["elasticsearch.addresses"] != f.own {
		t.Errorf("in the user's own folder: %v, %v", err, c.Origins)
	}
}

// TestEmptySection: all settings of a section may be comments.
func TestEmptySection(t *testing.T) {
	newFolders(t, "interval: 2s\nelasticsearch:\n  # addresses: [https://es:9200]\nkibana: {}\n", "compact:\n")
	if c, err := loadHere(t, ""); err != nil || c.Interval != "2s" {
		t.Errorf("%v, %v", c.Interval, err)
	}
}

// TestUnknownSettings are named with their own file, in any file.
func TestUnknownSettings(t *testing.T) {
	f := newFolders(t, "colour: red\nelasticsearch: {address: x}\nelasticsearch.addresses: x\nintervall: 2s\n", "size: 1\n")
	_, err := loadHere(t, "")
	if err == nil {
		t.Fatal("no error")
	}
	var want []string
	for _, text := range []string{
		"colour is no setting of fio2es", "elasticsearch.address is no setting of fio2es: did you mean elasticsearch.addresses?",
		"elasticsearch.addresses is no setting of fio2es: want it in a section elasticsearch", "intervall is no setting of fio2es: did you mean interval?",
	} {
		want = append(want, f.own+": "+text)
	}
	want = append(want, f.here+": size is no setting of fio2es")
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

// TestNamesKeepTheirCase: the offset of Client01 is not that of a host client01.
func TestNamesKeepTheirCase(t *testing.T) {
	newFolders(t, "labels: {OSD: Blue}\n", "labels: {Disk: NVMe, rack: A}\noffset: {Client01.Lab: -250, 'a::b': 1}\n")
	c, err := loadHere(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"OSD": "Blue", "Disk": "NVMe", "rack": "A"}, c.Labels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"Client01.Lab": "-250", "a::b": "1"}, c.Offset); diff != "" {
		t.Error(diff)
	}
	t.Setenv("FIO2ES_LABELS", "disk=x")
	if c, err := loadHere(t, ""); err != nil || !cmp.Equal(c.Labels, map[string]string{"disk": "x"}) {
		t.Errorf("%v, %v", c.Labels, err)
	}
}

// TestSettingsStandForNoMore: YAML of a few kilobytes can stand for gigabytes, or for keys
// that take minutes to compare.
func TestSettingsStandForNoMore(t *testing.T) {
	aliases := "a: &a " + strings.Repeat("x", 8000) + "\nlevels: [" + strings.Repeat("*a, ", 600) + "]\n"
	var laughs, keys strings.Builder
	laughs.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range 12 {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 8), i)
	}
	for i := range mostSettings / 8 {
		fmt.Fprintf(&keys, "%x: \n", i)
	}
	for name, text := range map[string]string{
		"aliases of a scalar": aliases, "aliases of aliases": laughs.String(), "keys": keys.String(), "an alias of itself": "a: &a [*a]",
		"depth": strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "indents": strings.Repeat("- ", 9000),
		"directives": strings.Repeat("%TAG !a! x\n", 90_000) + "---\nthreads: 1\n", "a key many times": strings.Repeat("threads: 1\n", 4900), "two documents": "threads: 1\n---\nthreads: 2\n",
	} {
		began := time.Now()
		f := newFolders(t, text, "")
		_, err := loadHere(t, f.own)
		if err == nil {
			t.Errorf("%s: %d bytes are read", name, len(text))
		} else if len(err.Error()) > 1000 {
			t.Errorf("%s: a message of %d bytes", name, len(err.Error()))
		}
		t.Logf("%s: %v", name, time.Since(began))
	}
}

// FuzzSettings: no text of a file found in the current folder sets more than analysis.
func FuzzSettings(f *testing.F) {
	for _, text := range []string{
		"weighting: completion\nlabels:\n  osd: bluestore\noffset:\n  a.b: -250\n", "sla: [p99 <= 10ms]\nlevels: job", "history: x", "{threads: 1, elasticsearch: {addresses: [x]}}",
		"a: &a [x]\nsla: *a", "labels: a=b", "interval: auto\nprecision: p99:10%", "x: !!binary aGk=", "? [a]\n: b", "<<: {history: x}", "\xff", "labels: {1: 2}", "--- a\n--- b",
	} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "none"))
	f.Chdir(dir)
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile("fio2es.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _ := Load("", pflag.NewFlagSet("test", pflag.ContinueOnError))
		want := Default()
		if c.History != want.History || c.Prefix != want.Prefix || !cmp.Equal(c.Elasticsearch, want.Elasticsearch) || !cmp.Equal(c.Kibana, want.Kibana) {
			t.Errorf("%+v", c)
		}
		for name := range c.Origins {
			if _, ok := flat(Analysis{})[name]; !ok {
				t.Errorf("%s was taken", name)
			}
		}
	})
}
