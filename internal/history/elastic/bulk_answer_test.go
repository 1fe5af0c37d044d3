package elastic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history/elastic"
)

type answered struct {
	Response json.RawMessage
	Request  struct{ NDJSON string }
}

func load(t testing.TB, name string) (a answered) {
	text, err := os.ReadFile(filepath.Join("..", "..", "es", "testdata", name+".json"))
	if err = errors.Join(err, json.Unmarshal(text, &a)); err != nil {
		t.Fatal(err)
	}
	return a
}

// sentIDs returns the ids in a recorded bulk request.
func sentIDs(t testing.TB, ndjson string) []string {
	var ids []string
	for line := range strings.Lines(ndjson) {
		var action map[string]struct {
			ID *string `json:"_id"`
		}
		if json.Unmarshal([]byte(line), &action) != nil {
			continue
		}
		for _, a := range action {
			if a.ID != nil {
				ids = append(ids, *a.ID)
			}
		}
	}
	if len(ids) == 0 {
		t.Fatal("no ids")
	}
	return ids
}

// TestRecordedBulk reads recorded answers of a real server.
func TestRecordedBulk(t *testing.T) {
	for name, want := range map[string]struct {
		items string
		err   error
	}{
		"block-read-only-allow-delete": {"429 cluster_block_exception,201,429 cluster_block_exception", nil},
		"block-write":                  {"403 cluster_block_exception,201", nil},
		"index-closed":                 {"400 index_closed_exception", nil},
		"wait-for-active-shards":       {"503 unavailable_shards_exception", nil},
		"require-alias-param":          {"404 index_not_found_exception", nil},
		"mixed": {"201,400 mapper_parsing_exception,409 version_conflict_engine_exception,404,404 document_missing_exception," +
			"400 strict_dynamic_mapping_exception,400 mapper_parsing_exception,400 invalid_index_name_exception,201", nil},
		"action-without-source-second": {"201", elastic.ErrBulkAnswer},
		"filter-path":                  {"201,400 mapper_parsing_exception", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := load(t, name)
			var got []string
			ids := sentIDs(t, r.Request.NDJSON)
			items := make([]es.Error, len(ids))
			err := elastic.ReadBulk(r.Response, ids, items)
			for _, item := range items {
				if item.Status != 0 {
					got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s", item.Status, item.Type)))
				}
			}
			if !errors.Is(err, want.err) || want.err == nil && err != nil {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(want.items, strings.Join(got, ",")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadBulk(t *testing.T) {
	ok := func(id string) string { return `{"index":{"_id":"` + id + `","status":200}}` }
	for _, c := range []struct {
		name, text, want string
		err              bool
	}{
		{"all", `{"took":1,"errors":false,"items":[` + ok("a") + "," + ok("b") + "," + ok("c") + `],"x":{"items":[]}}`, "0 1 2", false},
		{"unordered", `{"items":[` + ok("c") + "," + ok("a") + "," + ok("b") + `]}`, "0 1 2", false},
		{"one is missing", `{"errors":false,"items":[` + ok("a") + "," + ok("c") + `]}`, "0 2", true},
		{"all are missing", `{"errors":false}`, "", true},
		{"one too many", `{"items":[` + ok("a") + "," + ok("b") + "," + ok("c") + "," + ok("c") + `]}`, "0 1 2", true},
		{"unknown", `{"items":[` + ok("a") + "," + ok("x") + "," + ok("c") + `]}`, "0 2", true},
		{"without ids", `{"items":[{"index":{"status":201}},{"index":{"status":201}},{"index":{"status":201}}]}`, "0 1 2", false},
		{"no status", `{"items":[{"index":{"_id":"a"}}]}`, "", true},
		{"cut", `{"items":[` + ok("a") + "," + ok("b")[:20], "", true},
		{"cut after an item", `{"items":[` + ok("a"), "", true},
		{"cut at the end", `{"items":[` + ok("a") + "," + ok("b") + "," + ok("c") + "]", "", true},
		{"empty", ``, "", true},
		{"a page", `<html>`, "", true},
		{"an array", `[]`, "", true},
		{"items is an object", `{"items":{}}`, "", true},
		{"item is a string", `{"items":["x"]}`, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			items := make([]es.Error, 3)
			err := elastic.ReadBulk([]byte(c.text), []string{"a", "b", "c"}, items)
			for i, item := range items {
				if item.Status != 0 {
					got = append(got, fmt.Sprint(i))
				}
				if item.Status != 0 && item.Type != "" {
					t.Errorf("%+v", item)
				}
			}
			if strings.Join(got, " ") != c.want || (err != nil) != c.err {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// FuzzReadBulk: if there is no error, each document has an item result.
func FuzzReadBulk(f *testing.F) {
	for _, name := range []string{"mixed", "many-items-order", "filter-path", "block-write", "too-large-101mb"} {
		f.Add([]byte(load(f, name).Response))
	}
	stored := `{"errors":false,"items":[{"index":{"_id":"1","status":201}},{"index":{"_id":"2","status":200}},` +
		`{"index":{"_id":"3","status":201}},{"index":{"_id":"4","status":201}}]}`
	f.Add([]byte(stored))
	f.Add([]byte(stored[:len(stored)-40]))
	f.Add([]byte(strings.Replace(stored, `"3","status":201`, `"3","status":429,"error":{"type":"x"}`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		items := make([]es.Error, 4)
		err := elastic.ReadBulk(text, []string{"1", "2", "3", "4"}, items)
		isUnknown := func(item es.Error) bool { return item.Status == 0 }
		if err == nil && slices.ContainsFunc(items, isUnknown) {
			t.Errorf("%v, but no error", items)
		}
	})
}

func BenchmarkReadBulk(b *testing.B) {
	ids := make([]string, 1400)
	var text bytes.Buffer
	text.WriteString(`{"errors":false,"items":[`)
	for i := range ids {
		ids[i] = fmt.Sprintf("%040x", i)
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"index":{"_id":"%s","status":201}}`, ids[i])
	}
	text.WriteString("]}")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		must(b, elastic.ReadBulk(text.Bytes(), ids, make([]es.Error, len(ids))))
	}
}
