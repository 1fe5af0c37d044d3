package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// reportsOfOneJob are periodic reports of one job: several wait for one another by a mutex, which
// the clock of a test does not know as waiting.
func reportsOfOneJob(t *testing.T) []byte {
	t.Helper()
	var all bytes.Buffer
	for _, text := range reportsOf(t, "status-interval") {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var r struct {
			Version string            `json:"fio version"`
			MS      int64             `json:"timestamp_ms"`
			Jobs    []json.RawMessage `json:"jobs"`
		}
		check(t, json.Unmarshal(text, &r))
		r.Jobs = r.Jobs[:1]
		one, err := json.MarshalIndent(r, "", "  ")
		check(t, err)
		all.Write(append(one, '\n'))
	}
	return all.Bytes()
}

// Windows are printed once, though the file that they came from is renamed, emptied or put
// back while it is followed, and is read from its start then.
func TestFollowAgain(t *testing.T) {
	reports := reportsOfOneJob(t)
	tests := map[string]func(t *testing.T, dir string){
		"renamed": func(t *testing.T, dir string) {
			check(t, os.Rename(filepath.Join(dir, "out.json"), filepath.Join(dir, "other.json")))
		},
		"set aside": func(t *testing.T, dir string) {
			check(t, os.Rename(filepath.Join(dir, "json_output.0.h1"), filepath.Join(dir, "json_output.0.h1.old")))
		},
		"emptied and written once more": func(t *testing.T, dir string) {
			check(t, os.Truncate(filepath.Join(dir, "out.json"), 0))
			time.Sleep(time.Second)
			appendTo(t, filepath.Join(dir, "out.json"), reports[:len(reports)/2])
			time.Sleep(time.Second)
			appendTo(t, filepath.Join(dir, "out.json"), reports[len(reports)/2:])
		},
		"removed and put back": func(t *testing.T, dir string) {
			check(t, os.Rename(filepath.Join(dir, "out.json"), filepath.Join(dir, "..", "aside")))
			time.Sleep(5 * time.Second)
			check(t, os.Rename(filepath.Join(dir, "..", "aside"), filepath.Join(dir, "out.json")))
			now := time.Now()
			check(t, os.Chtimes(filepath.Join(dir, "out.json"), now, now))
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			settings, dir := ownHistory(t), filepath.Join(t.TempDir(), "logs")
			check(t, os.Mkdir(dir, 0o755))
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(dir, "out.json")
				if name == "set aside" {
					file = filepath.Join(dir, "json_output.0.h1")
				}
				appendTo(t, file, reports)
				now := time.Now()
				check(t, os.Chtimes(file, now, now))
				var out, errs bytes.Buffer
				over := make(chan int, 1)
				go func() {
					over <- run(t.Context(), []string{"--config", settings, "follow", "--every", "1s", "--quiet", "10s", "--idle", "30s", "--format", "json", dir}, nil, &out, &errs)
				}()
				time.Sleep(4500 * time.Millisecond)
				change(t, dir)
				if code := <-over; code != 0 {
					t.Errorf("exit code %d", code)
				}
				seen, lines := map[string]bool{}, 0
				for line := range strings.Lines(out.String()) {
					var w percentileLine
					check(t, json.Unmarshal([]byte(line), &w))
					key := w.Start[:19] + w.Direction
					if lines++; seen[key] {
						t.Errorf("printed twice: %s", line)
					}
					seen[key] = true
				}
				t.Logf("%d lines\n%s", lines, &errs)
				if lines < 20 {
					t.Errorf("%d lines\n%s", lines, &out)
				}
			})
			if name != "set aside" {
				return
			}
			if text := callWith(t, settings, "runs", "--format", "document"); !strings.Contains(text, `"h1"`) || strings.Contains(text, `"h1.old"`) {
				t.Errorf("hosts of the run:\n%s", text)
			}
		})
	}
}
