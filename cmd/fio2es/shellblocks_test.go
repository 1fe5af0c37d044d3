package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestShellBlocks runs the shell blocks of README.md and the quick start that measure, with the fake fio.
func TestShellBlocks(t *testing.T) {
	t.Parallel()
	if shellPrograms["fio"] == "" {
		t.Skip("no fio that is not real, on this system")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	check(t, err)
	serve := regexp.MustCompile(`(?m)^fio2es serve\n`) // without serve, which does not end
	for _, page := range []string{"README.md", "docs/quickstart.md"} {
		k := &kitchen{T: t, dir: t.TempDir()}
		k.env = append(os.Environ(), "CORPUS="+filepath.Join(root, "testdata", "corpus"), "HOME="+k.dir, "XDG_DATA_HOME=", "XDG_CONFIG_HOME="+k.dir, "FIO2ES_HISTORY="+filepath.Join(k.dir, "example.db"))
		for _, folder := range []string{"examples", "testdata"} {
			check(t, os.Symlink(filepath.Join(root, folder), filepath.Join(k.dir, folder)))
		}
		check(t, os.WriteFile(filepath.Join(k.dir, "job.fio"), []byte("[rw]\nrw=randrw\n"), 0o644))
		if code, out := k.shell("fio2es ingest " + filepath.Join(root, "examples", "cbt-archive")); code != 0 {
			t.Fatalf("exit code %d: %s", code, out)
		}
		ran := 0
		for _, m := range fence.FindAllStringSubmatch(readText(t, filepath.Join(root, page)), -1) {
			if m[1] != "sh" || m[2] == "go test ./...\n" { // CI runs go test itself
				continue
			}
			ran++
			block := strings.NewReplacer("/tmp/", k.dir+"/", "go run ./cmd/fio2es", "fio2es").Replace(serve.ReplaceAllString(m[2], ""))
			block = strings.ReplaceAll(block, "--repeat 5", "--repeat 2") // for the test, two runs are several
			if code, out := k.shell("set -e\n" + block); code != 0 {
				t.Errorf("%s: exit code %d of\n%s%s", page, code, block, out)
			}
		}
		if ran < 2 {
			t.Errorf("%s: %d blocks", page, ran)
		}
	}
}
