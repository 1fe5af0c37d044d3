package config

import (
	"maps"
	"strings"
	"testing"
)

// TestValuesAsWritten takes what YAML has as a number or a date for the text that it is.
func TestValuesAsWritten(t *testing.T) {
	f := newFolders(t, "", "labels: {ceph: 1.10, build: 010, mask: 0x1f, ok: true, day: 2026-10-10, same: &x 2.50, again: *x}\n"+
		"archive: 2026-10-10\nstart: 2026-01-31T09:12:00Z\nthreads: 0x2\ntolerance: .1\n")
	c, err := loadHere(t, "")
	if err != nil {
		t.Fatalf("%s: %v", f.here, err)
	}
	want := map[string]string{"ceph": "1.10", "build": "010", "mask": "0x1f", "ok": "true", "day": "2026-10-10", "same": "2.50", "again": "2.50"}
	if !maps.Equal(c.Labels, want) {
		t.Errorf("labels %v", c.Labels)
	}
	if c.Archive != "2026-10-10" || c.Start != "2026-01-31T09:12:00Z" || c.Threads != 2 || c.Tolerance != 0.1 {
		t.Errorf("%+v", c.Analysis)
	}
}

// TestValueFaults say where a value is, and what is wanted, without the words of libraries.
func TestValueFaults(t *testing.T) {
	for text, want := range map[string]string{
		"tolerance: abc":                       "FILE: tolerance: want a number",
		"threads: x":                           "FILE: threads: want a whole number",
		"tolerance: [1]":                       "FILE: tolerance: want a number",
		"prefix: {a: 1}":                       "FILE: prefix: want a text",
		"labels: {a: {b: c}}":                  "FILE: labels: want a text",
		"labels: [a]":                          "FILE: labels: want NAME=VALUE",
		"levels: [rack]":                       "FILE: levels: want cluster, host, section or job",
		"interval: 5":                          "FILE: interval: want a time such as 10s, or auto",
		"start: 2026-10-10":                    "FILE: start: want a time from 1970 on, such as 2026-01-31T09:12:00Z",
		"start: 0001-01-01T00:00:00Z":          "FILE: start: want a time from 1970 on, such as 2026-01-31T09:12:00Z",
		"offset: {a: 9223372036854775807}":     "FILE: offset: want HOST=MILLISECONDS, at most a hundred years",
		"elasticsearch: {shards: 0}":           "FILE: elasticsearch.shards: want 1 or more",
		"compact: {to: x}":                     "FILE: compact.to: want a time such as 90s or 5m",
		"elasticsearch: 5":                     "FILE: elasticsearch is no setting of fio2es: did you mean elasticsearch.addresses or elasticsearch.allow_plain or elasticsearch.api_key?",
		"elasticsearch: {allow_plain: maybe}":  "FILE: elasticsearch.allow_plain: want true or false",
		"elasticsearch: {give_up_after: 5 mn}": "FILE: elasticsearch.give_up_after: want a time such as 90s or 5m",
		"- a":                                  "read settings FILE: want settings, such as interval: 10s, one a line",
		"a: [":                                 "read settings FILE: not YAML: line 1: did not find expected node content",
	} {
		f := newFolders(t, text+"\n", "")
		_, err := loadHere(t, "")
		if err == nil || strings.ReplaceAll(err.Error(), f.own, "FILE") != want {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
}
