package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var at = time.Date(2026, 11, 22, 14, 0, 0, 0, time.UTC)

// TestPack: the same files give the same archive, in another folder, at another time and with other rights.
func TestPack(t *testing.T) {
	for _, ext := range []string{".tar.gz", ".zip"} {
		var made [2][]byte
		for i := range made {
			dir := filepath.Join(t.TempDir(), "fio2es")
			for j, name := range [][]string{{"b", "a/program"}, {"a/program", "b"}}[i] {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				mode := os.FileMode(0o600 | i*0o44)
				if name != "b" {
					mode |= 0o100
				}
				if err := os.WriteFile(path, []byte(name), mode); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, at, at.Add(time.Duration(i+j)*time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
			out := filepath.Join(t.TempDir(), "out"+ext)
			if err := pack(out, dir, at); err != nil {
				t.Fatal(err)
			}
			var err error
			if made[i], err = os.ReadFile(out); err != nil {
				t.Fatal(err)
			}
			if ext == ".tar.gz" {
				if list, err := exec.Command("tar", "-tzf", out).Output(); err != nil || string(list) != "fio2es/a/program\nfio2es/b\n" {
					t.Errorf("%s, %v", list, err)
				}
			}
		}
		if !bytes.Equal(made[0], made[1]) {
			t.Errorf("two archives %s differ", ext)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := pack(filepath.Join(t.TempDir(), "out.zip"), dir, at); err == nil {
		t.Error("a link was packed")
	}
	if err := pack(filepath.Join(t.TempDir(), "out.rar"), t.TempDir(), at); err == nil {
		t.Error("out.rar was written")
	}
}

// TestLinks: a link needs its file, in the folder.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"release/README.md":    "[a](docs/a.md#top) [b](https://example.com/b) [c](#here) ![d](docs/d.png)",
		"release/docs/a.md":    "[back](../README.md) [code](../../code.go)",
		"release/docs/d.png":   "",
		"release/docs/code.md": "[gone](gone.md)",
		"code.go":              "",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	err := links(filepath.Join(dir, "release"))
	if err == nil || strings.Count(err.Error(), "link to") != 2 || !strings.Contains(err.Error(), "../../code.go: outside") || !strings.Contains(err.Error(), "gone.md") {
		t.Errorf("%v", err)
	}
}

// TestLicensesIn: licences and notices are found, and a module without any is refused.
func TestLicensesIn(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := licensesIn(&b, "m v1", dir); err == nil {
		t.Error("no licence, no error")
	}
	for _, name := range []string{"LICENSE.txt", "NOTICE", "license_test.go.md", "main.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := licensesIn(&b, "m v1", dir); err != nil || !strings.Contains(b.String(), "m v1, LICENSE.txt\n\ntext of LICENSE.txt") ||
		!strings.Contains(b.String(), "text of NOTICE") || strings.Contains(b.String(), "main.go") {
		t.Errorf("%v: %s", err, &b)
	}
}

// TestSBOM: the bill of materials of a program has each module once, and everything that it refers to.
func TestSBOM(t *testing.T) {
	program := os.Getenv("FIO2ES_TEST_PROGRAM")
	if program == "" {
		t.Skip("FIO2ES_TEST_PROGRAM names no program")
	}
	var b bytes.Buffer
	if err := sbom(&b, program, "fio2es", "v1.2.3", at); err != nil {
		t.Fatal(err)
	}
	var bill struct {
		SPDXVersion string
		Packages    []struct{ SPDXID, Name, VersionInfo, Supplier string }
		Relations   []struct{ RelatedSPDXElement string } `json:"relationships"`
	}
	if err := json.Unmarshal(b.Bytes(), &bill); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, p := range bill.Packages {
		if ids[p.SPDXID] || p.VersionInfo == "" || !strings.HasPrefix(p.Supplier, "Organization: ") {
			t.Errorf("%+v", p)
		}
		ids[p.SPDXID] = true
	}
	for _, r := range bill.Relations {
		if !ids[r.RelatedSPDXElement] {
			t.Errorf("%s is not there", r.RelatedSPDXElement)
		}
	}
	if want := bytes.Count(out, []byte("\tdep\t")) + 2; bill.SPDXVersion != "SPDX-2.3" || len(bill.Packages) != want || len(bill.Relations) != want {
		t.Errorf("%s: %d packages, %d relations, want %d", bill.SPDXVersion, len(bill.Packages), len(bill.Relations), want)
	}
}
