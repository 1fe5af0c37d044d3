package fiolog_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

func TestParseNameOfCopies(t *testing.T) {
	for name, want := range map[string]fiolog.Name{
		"x_clat_hist.1.log.bak":               {Job: 1, Copy: ".bak"},
		"x_clat_hist.1.log.BAK2":              {Job: 1, Copy: ".BAK2"},
		"x_clat_hist.1.log.h1.lab.old":        {Job: 1, Host: "h1.lab", Copy: ".old"},
		"x_clat_hist.1.log~":                  {Job: 1, Copy: "~"},
		"x_clat_hist.1.log.h1~":               {Job: 1, Host: "h1", Copy: "~"},
		"x_clat_hist.1.log.orig":              {Job: 1, Copy: ".orig"},
		"x_clat_hist.1.log.save":              {Job: 1, Copy: ".save"},
		"x_clat_hist.1.log.1":                 {Job: 1, Copy: ".1"},
		"x_clat_hist.1.log.2.bak":             {Job: 1, Copy: ".bak"},
		"x_clat_hist.1.log-20240501":          {Job: 1, Copy: "-20240501"},
		"x_clat_hist.1.log.20240501":          {Job: 1, Copy: ".20240501"},
		"x_clat_hist.log.7":                   {Copy: ".7"},
		"x_clat_hist.1.log.fz.1":              {Job: 1, Stored: true, Copy: ".1"},
		"x_clat_hist.1 (copy).log":            {Job: 1, Copy: "(copy)"},
		"x_clat_hist.1 (another copy).log":    {Job: 1, Copy: "(another copy)"},
		"x_clat_hist.1 (3rd copy).log.h1":     {Job: 1, Host: "h1", Copy: "(3rd copy)"},
		"x_clat_hist.1(1).log":                {Job: 1, Copy: "(1)"},
		"x_clat_hist.1.log (copy)":            {Job: 1, Copy: "(copy)"},
		"x_clat_hist.1.log.h1 (1)":            {Job: 1, Host: "h1", Copy: "(1)"},
		"x_clat_hist.1 - Copy.log":            {Job: 1, Copy: "- Copy"},
		"x_clat_hist.1 - Copy (2).log":        {Job: 1, Copy: "- Copy (2)"},
		"x_clat_hist.1 copy 2.log":            {Job: 1, Copy: "copy 2"},
		"Copy of x_clat_hist.1.log":           {Job: 1, Copy: "Copy of"},
		"copy (2) of x_clat_hist.1.log.h1":    {Job: 1, Host: "h1", Copy: "copy (2) of"},
		"x_clat_hist.1.log.10.0.0.1":          {Job: 1, Host: "10.0.0.1"},
		"x_clat_hist.1.log.127.0.0.1":         {Job: 1, Host: "127.0.0.1"},
		"x_clat_hist.1.log.10.0.0.1.1":        {Job: 1, Host: "10.0.0.1", Copy: ".1"},
		"x_clat_hist.1.log.10.0.0.1.bak":      {Job: 1, Host: "10.0.0.1", Copy: ".bak"},
		"x_clat_hist.1.log.fe80::1":           {Job: 1, Host: "fe80::1"},
		"x_clat_hist.1.log.node-20240501":     {Job: 1, Host: "node-20240501"},
		"x_clat_hist.1.log.backup01":          {Job: 1, Host: "backup01"}, // as a machine may well be called
		"x_clat_hist.1.log.bak2":              {Job: 1, Copy: ".bak2"},
		"x_clat_hist.1.log.h1.txt":            {Job: 1, Host: "h1"},
		"x_clat_hist.1.log.txt":               {Job: 1},
		"x_clat_hist.1.log.txt.bak":           {Job: 1, Copy: ".bak"},
		"x (1)_clat_hist.1.log":               {Prefix: "x (1)", Job: 1},
		"x.bak_clat_hist.1.log":               {Prefix: "x.bak", Job: 1},
		"my copy_clat_hist.1.log.h1":          {Prefix: "my copy", Job: 1, Host: "h1"},
		"Copy of x_clat_hist.1.log.10.0.0.1~": {Job: 1, Host: "10.0.0.1", Copy: "~"},
	} {
		if want.Prefix == "" {
			want.Prefix = "x"
		}
		n, ok := fiolog.ParseName(name)
		if !ok || n != want && !(strings.HasPrefix(name, "Copy of") && n.Host == want.Host && n.Copy != "") {
			t.Errorf("%s: %+v, %v; want %+v", name, n, ok, want)
		}
	}
	for _, name := range []string{"x.bak", "x_clat_hist.1.bak", "x_clat_hist.1 (copy)", "notes (1).log", "~", ".bak", "Copy of ", "x_clat_hist.1.logbak"} {
		if n, ok := fiolog.ParseName(name); ok {
			t.Errorf("%s is no log's name, got %+v", name, n)
		}
	}
}

func TestCutCopyMark(t *testing.T) {
	for name, want := range map[string][2]string{
		"out.json.bak":       {"out.json", ".bak"},
		"out (1).json":       {"out.json", "(1)"},
		"out copy.json":      {"out.json", "copy"},
		"Copy of out.json":   {"out.json", "Copy of"},
		"out.json.1":         {"out.json", ".1"},
		"out.json-20240501":  {"out.json", "-20240501"},
		"out.json":           {"out.json", ""},
		"run (1)":            {"run", "(1)"},
		"~":                  {"~", ""},
		"out.json~":          {"out.json", "~"},
		"benchmark-20240501": {"benchmark-20240501", ""},
	} {
		if original, mark := fiolog.CutCopyMark(name); original != want[0] || mark != want[1] {
			t.Errorf("%s: %q, %q; want %q", name, original, mark, want)
		}
	}
}

// A copy is known by any mark on the name of any log, and is never another host's.
func TestCopiesOfAnyName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"x", "output.0", "a b", "_"}).Draw(t, "prefix") + "_" +
			rapid.SampledFrom([]string{"clat_hist", "clat", "slat", "lat", "bw", "iops"}).Draw(t, "kind") + rapid.SampledFrom([]string{"", ".1", ".12"}).Draw(t, "job") + ".log" +
			rapid.SampledFrom([]string{"", ".fz", ".h1", ".h1.lab", ".10.1.2.3"}).Draw(t, "host")
		want, ok := fiolog.ParseName(name)
		if !ok || want.Copy != "" {
			t.Fatalf("%s: %+v, %v", name, want, ok)
		}
		mark := rapid.SampledFrom([]string{".bak", ".old", ".orig", "~", ".save", ".1", ".27", " (copy)", " (2)"}).Draw(t, "mark")
		got, ok := fiolog.ParseName(name + mark)
		if !ok || got.Copy != strings.TrimSpace(mark) {
			t.Fatalf("%s: %+v, %v", name+mark, got, ok)
		}
		if got.Copy = ""; got != want {
			t.Errorf("%s: %+v, want %+v", name+mark, got, want)
		}
	})
}
