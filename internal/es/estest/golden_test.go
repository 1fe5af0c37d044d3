package estest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/fio2es/fio2es/internal/es/estest"
)

// request and fixture are recorded requests to a real server, 8.6.1, and its answers.
type request struct {
	Method, Path string
	Headers      map[string]string
	Body         json.RawMessage
	NDJSON, Text *string
	Gzip         bool
}

type exchange struct {
	Request  request
	Status   int
	Response any
}

type fixture struct {
	Name  string
	Setup []request
	exchange
	After []exchange
}

func (r *request) send(t *testing.T, address string) (int, any) {
	t.Helper()
	body, kind := string(r.Body), "application/json"
	switch {
	case r.NDJSON != nil:
		body, kind = *r.NDJSON, "application/x-ndjson"
	case r.Text != nil:
		body = *r.Text
	}
	var packed bytes.Buffer
	packed.WriteString(body)
	if r.Gzip {
		packed.Reset()
		z := gzip.NewWriter(&packed)
		_, _ = z.Write([]byte(body))
		_ = z.Close()
	}
	req, err := http.NewRequestWithContext(t.Context(), r.Method, address+r.Path, &packed)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	if r.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	for k, v := range r.Headers {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil // recorded with status 0
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer any
	if len(text) > 0 {
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return res.StatusCode, answer
}

// loose removes what a client must not depend on, and what differs between servers.
func loose(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			switch key {
			case "took", "_seq_no", "_primary_term", "_shards", "reason", "root_cause", "caused_by", "batches",
				"build_hash", "build_date", "name", "cluster_name", "cluster_uuid":
			default:
				out[key] = loose(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = loose(v[i])
		}
		return out
	case string:
		if strings.HasPrefix(v, "<") {
			return "<>"
		}
	}
	return v
}

// TestRecorded: the stand-in gives the recorded answers of a real server, in the parts that clients use.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range []string{"action-without-source-second", "empty-body", "root", "template-get-missing", "template-get-wildcard-missing"} {
		files = append(files, filepath.Join("..", "testdata", name+".json")) // of the tests of the client
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f fixture
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		t.Run(f.Name, func(t *testing.T) {
			address, stop := estest.New().Start()
			defer stop()
			for _, r := range f.Setup {
				if status, answer := r.send(t, address); status > 299 {
					t.Fatalf("set up %s %s: %d %v", r.Method, r.Path, status, answer)
				}
			}
			for _, x := range append([]exchange{f.exchange}, f.After...) {
				if strings.Contains(x.Request.Path, "/_doc/") || strings.Contains(x.Request.Path, "/_search") || strings.Contains(x.Request.Path, "/_count") {
					continue // fio2es does not use this one
				}
				status, answer := x.Request.send(t, address)
				if status != x.Status {
					t.Errorf("%s %s: status %d, recorded is %d", x.Request.Method, x.Request.Path, status, x.Status)
				}
				if diff := cmp.Diff(loose(x.Response), loose(answer)); diff != "" {
					t.Errorf("%s %s (-recorded +got):\n%s", x.Request.Method, x.Request.Path, diff)
				}
			}
		})
	}
}
