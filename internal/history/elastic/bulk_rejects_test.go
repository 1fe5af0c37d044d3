package elastic_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// rejects returns the ids in a reject file; none if there is no file.
func rejects(t testing.TB, path string) []string {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for r, err := range elastic.ReadRejects(text) {
		var action struct {
			Index, Create struct {
				ID string `json:"_id"`
			}
		}
		var run struct {
			Level string
			Run   mapping.RunRef
		}
		if err = errors.Join(err, json.Unmarshal(r.Action, &action), json.Unmarshal(r.Document, &run)); err != nil {
			t.Error(err)
		}
		id := run.Run.ID
		if run.Level != "" {
			var doc mapping.Interval
			if err := json.Unmarshal(r.Document, &doc); err != nil {
				t.Error(err)
			}
			id = doc.ID()
		}
		if r.Reason.Status < 400 || id != action.Index.ID+action.Create.ID {
			t.Errorf("%+v %s %s", r.Reason, r.Action, r.Document)
		}
		ids = append(ids, action.Index.ID+action.Create.ID)
	}
	return ids
}

func TestRejected(t *testing.T) {
	docs := historytest.Intervals("a", "1", 30)
	other := historytest.Intervals("b", "1", 30)
	bad := docs[11].ID()
	refuse := func(_, id string, _ []byte) string {
		if id == bad {
			return "failed to parse field [latency.histogram] of type [histogram] <&> in document with id '" + id + "'"
		}
		return ""
	}
	path := filepath.Join(t.TempDir(), "rejects.ndjson")
	t.Run("with a file", func(t *testing.T) {
		inBubble(t, elastic.Options{RejectFile: path}, func(w *world) {
			w.server.Refuse = refuse
			w.put(docs...)
			w.finish("a", "1")
			if err := hasExactly(w.server, docs, map[string]bool{bad: true}); err != nil {
				t.Error(err)
			}
		})
		if got := rejects(t, path); !slices.Equal(got, []string{bad}) {
			t.Errorf("rejected %v", got)
		}
	})
	t.Run("without", func(t *testing.T) {
		inBubble(t, elastic.Options{}, func(w *world) {
			w.server.Refuse = refuse
			w.put(docs...)
			w.put(other...)
			err := w.Finish(w.t.Context(), historytest.NewRun("a", "1"))
			if !errors.Is(err, elastic.ErrRejected) || !strings.Contains(err.Error(), "failed to parse") || !strings.Contains(err.Error(), bad) {
				t.Errorf("finish: %v", err)
			}
			if n := len(w.server.Documents("fio-runs")); n != 0 {
				t.Error("the run's document is there")
			}
			w.finish("b", "1") // other runs can be finished
		})
	})
	t.Run("the run's document", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "rejects.ndjson")
		run := historytest.NewRun("a", "1")
		inBubble(t, elastic.Options{RejectFile: path}, func(w *world) {
			w.server.Refuse = func(index, _ string, _ []byte) string {
				if index == "fio-runs" {
					return "Limit of total fields [1000] has been exceeded"
				}
				return ""
			}
			w.put(docs...)
			if err := w.Finish(w.t.Context(), run); !errors.Is(err, elastic.ErrRejected) || !strings.Contains(err.Error(), "Limit of total fields") {
				t.Errorf("finish: %v", err)
			}
		})
		if got := rejects(t, path); !slices.Equal(got, []string{run.ID()}) {
			t.Errorf("rejected %v", got)
		}
	})
	t.Run("too many", func(t *testing.T) {
		inBubble(t, elastic.Options{RejectFile: path, MaxRejects: 5}, func(w *world) {
			w.server.Script(slices.Repeat([]estest.Fault{{Kind: estest.ItemsRefused}}, len(docs))...) // they may come in several bodies
			w.put(docs...)
			if err := w.Finish(w.t.Context(), historytest.NewRun("a", "1")); !errors.Is(err, elastic.ErrRejects) {
				t.Errorf("finish: %v", err)
			}
		})
	})
	t.Run("file cannot be made", func(t *testing.T) {
		inBubble(t, elastic.Options{RejectFile: filepath.Join(path, "x")}, func(w *world) {
			w.server.Refuse = refuse
			w.put(docs...)
			if err := w.Finish(w.t.Context(), historytest.NewRun("a", "1")); err == nil || !strings.Contains(err.Error(), "write reject file") {
				t.Errorf("finish: %v", err)
			}
		})
	})
}

func TestReadRejectsDamaged(t *testing.T) {
	text := `{"reason":{"status":400},"action":{"index":{}},"document":{"a":"<&>"}}` + "\n\nnonsense\n{}\n" +
		`{"reason":{"status":400},"action":{"index":{}},"document":{}}` + "\n" + `{"reason":{"sta`
	var got []string
	for r, err := range elastic.ReadRejects([]byte(text)) {
		if err != nil {
			got = append(got, strings.SplitN(err.Error(), ":", 2)[0])
			continue
		}
		got = append(got, string(r.Document))
	}
	want := []string{`{"a":"<&>"}`, "read rejects, line 3", "read rejects, line 4", "{}", "read rejects, line 6"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
