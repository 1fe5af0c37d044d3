package setup_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type exchange struct {
	Request struct {
		Method, Path string
		Body         json.RawMessage
	}
	Status   int
	Response any
}

// TestFakeIsTrue compares the fake with recorded answers of Elasticsearch 8.6.1.
func TestFakeIsTrue(t *testing.T) {
	files, err := filepath.Glob("testdata/elasticsearch-8.6.1/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var fixture struct {
				Setup []json.RawMessage
				exchange
				After []exchange
			}
			if err := json.Unmarshal(text, &fixture); err != nil {
				t.Fatal(err)
			}
			f := newFake(t)
			for _, s := range fixture.Setup {
				var e exchange
				if err := json.Unmarshal(s, &e.Request); err != nil {
					t.Fatal(err)
				}
				if status, answer := send(t, f, e); status != 200 {
					t.Fatalf("%s: %d %v", s, status, answer)
				}
			}
			for _, e := range append([]exchange{fixture.exchange}, fixture.After...) {
				status, answer := send(t, f, e)
				if status != e.Status {
					t.Errorf("%s %s: %d instead of %d", e.Request.Method, e.Request.Path, status, e.Status)
				}
				if want, got := essence(e.Response), essence(answer); want != got {
					t.Errorf("%s %s:\n%s\ninstead of\n%s", e.Request.Method, e.Request.Path, got, want)
				}
			}
		})
	}
}

func send(t *testing.T, to interface {
	Perform(*http.Request) (*http.Response, error)
}, e exchange) (int, any) {
	t.Helper()
	req, err := http.NewRequest(e.Request.Method, e.Request.Path, bytes.NewReader(e.Request.Body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := to.Perform(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer any
	_ = json.Unmarshal(text, &answer) // nil if the text is not JSON
	return resp.StatusCode, answer
}

// essence returns the part of an answer that clients use; of an error, its type.
func essence(answer any) string {
	m, _ := answer.(tree)
	if e, ok := m["error"].(tree); ok {
		return fmt.Sprint("error ", e["type"])
	}
	for _, v := range m {
		if policy, ok := v.(tree); ok {
			delete(policy, "modified_date")
		}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
