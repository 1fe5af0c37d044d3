package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
)

// securityRequest is a request of docs/elasticsearch.md that makes a role.
type securityRequest struct {
	method, path string
	body         map[string]any
}

// documented returns the requests of docs/elasticsearch.md, for another prefix.
func documented(t *testing.T, prefix string) map[string]securityRequest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "elasticsearch.md"))
	check(t, err)
	found := map[string]securityRequest{}
	for _, block := range strings.Split(string(text), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		line, body, _ := strings.Cut(block, "\n")
		method, path, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(path, "/_security/") {
			continue
		}
		r := securityRequest{method: method, path: path}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(body, `"fio-`, `"`+prefix+`-`)), &r.body); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		found[filepath.Base(path)] = r
	}
	return found
}

// admin has the credentials of the environment, and makes roles and keys.
type admin struct {
	t *testing.T
	*es.Client
	server estest.Real
}

// do sends a request, with the key if there is one, and returns the status.
func (a admin) do(method, path, key string, body, into any) int {
	a.t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			a.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.server.Address+path, bytes.NewReader(text))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "ApiKey "+key)
	} else {
		req.SetBasicAuth(a.server.Config.Username, string(a.server.Config.Password))
	}
	res, err := a.server.HTTP.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	if into != nil && res.StatusCode == http.StatusOK {
		if err := json.Unmarshal(answer, into); err != nil {
			a.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return res.StatusCode
}

// keys makes an API key for each documented role.
func (a admin) keys(prefix string) map[string]string {
	a.t.Helper()
	keys := map[string]string{}
	for name, r := range documented(a.t, prefix) {
		body := r.body
		path := "/_security/role/" + prefix + "-" + name
		if status := a.do(r.method, path, "", body, nil); status == http.StatusForbidden {
			a.t.Skip("the credentials in the environment may not make roles")
		} else if status != http.StatusOK {
			a.t.Fatalf("%s %s: %d", r.method, r.path, status)
		}
		a.t.Cleanup(func() { a.remove(path, nil) })
		body = map[string]any{"name": prefix, "role_descriptors": map[string]any{name: body}}
		var key struct{ ID, Encoded string }
		if status := a.do(http.MethodPost, "/_security/api_key", "", body, &key); status != http.StatusOK {
			a.t.Skipf("the credentials in the environment may not make API keys: %d", status)
		}
		a.t.Cleanup(func() { a.remove("/_security/api_key", map[string]any{"ids": []string{key.ID}}) })
		keys[name] = key.Encoded
	}
	return keys
}

func (a admin) remove(path string, body any) {
	ctx := context.Background() // the context of the test has ended
	err := a.Do(ctx, es.Request{Method: http.MethodDelete, URI: path, Body: body}, nil)
	if err != nil {
		a.t.Error(err)
	}
}

// TestRolesInCluster does with each role of docs/elasticsearch.md what it is for, and tries what it must not allow.
func TestRolesInCluster(t *testing.T) {
	real, prefixes := cluster(t, "roles")
	if !real.Secured {
		t.Skip("the environment has no credentials for the cluster: it has no security, or no user may make API keys")
	}
	client, err := es.New(real.Config)
	check(t, err)
	defer client.Close()
	a, prefix := admin{t, client, real}, prefixes[0]
	keys := a.keys(prefix)
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home, "FIO2ES_PREFIX": prefix,
		"FIO2ES_ELASTICSEARCH_USERNAME": "", "FIO2ES_ELASTICSEARCH_PASSWORD": "",
	} {
		t.Setenv(name, value)
	}
	archive := filepath.Join("..", "..", "examples", "cbt-archive")
	outputOf(t, "ingest", archive) // runs for push
	// An index that setup must change.
	request(t, real, "PUT", "/"+prefix+"-latency.host-1999.01", `{"mappings":{"dynamic":"strict"}}`, &struct{}{})
	for _, c := range []struct {
		role string
		args string
		code int
		says string // text on stdout or stderr
	}{
		{"fio2es_reader", "runs", 1, "run fio2es setup"},
		{"fio2es_ingest", "ingest " + archive, 1, "run fio2es setup"},
		{"fio2es_reader", "setup", 1, "403"},
		{"fio2es_ingest", "setup", 1, "cluster privilege manage_ilm"},
		{"fio2es_setup", "setup", 0, "create index " + prefix + "-runs"},
		{"fio2es_setup", "setup", 0, "keep index template"},
		{"fio2es_reader", "runs", 0, "no runs in"},
		{"fio2es_reader", "percentiles latest", 1, "no runs in the history yet"},
		{"fio2es_reader", "ingest " + archive, 1, "403"},
		{"fio2es_setup", "ingest " + archive, 1, "403"},
		{"fio2es_setup", "runs", 1, "credentials do not allow it"},
		{"fio2es_ingest", "ingest --levels cluster,host,job --labels a=b " + archive, 0, "3 runs"},
		{"fio2es_ingest", "ingest --interval 2s --labels new=x " + archive, 0, "3 runs"},
		{"fio2es_ingest", "push", 0, "3 runs"},
		{"fio2es_ingest", "runs", 0, "47e16f24"},
		{"fio2es_ingest", "ingest --archive other " + archive, 0, "3 runs"},
		{"fio2es_reader", "runs", 0, "other:"},
		{"fio2es_reader", "percentiles --levels host latest", 0, "write"},
		{"fio2es_reader", "rank latest --within 1ms --from +1s", 0, "write"},
		{"fio2es_reader", "push", 0, "0 runs"}, // all runs are there already
		{"fio2es_setup", "setup", 0, "keep index template"},
	} {
		t.Setenv("FIO2ES_ELASTICSEARCH_API_KEY", keys[c.role])
		var out bytes.Buffer
		args := append(strings.Fields(c.args), "-v", "--elasticsearch="+real.Address)
		code := run(t.Context(), args, strings.NewReader(""), &out, &out)
		if code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: fio2es %s: exit code %d, and not %q in\n%s", c.role, c.args, code, c.says, &out)
		}
		if strings.Contains(out.String(), keys[c.role]) {
			t.Errorf("%s: fio2es %s shows the key", c.role, c.args)
		}
	}
	a.refusals(prefix, keys)
}

// refusals tries what the roles must not allow.
func (a admin) refusals(prefix string, keys map[string]string) {
	a.t.Helper()
	document := map[string]any{"run": map[string]any{"id": "x"}}
	all := map[string]any{"query": map[string]any{"match_all": map[string]any{}}}
	for _, c := range []struct {
		role, method, path string
		body               any
	}{
		{"fio2es_reader", "PUT", "/" + prefix + "-runs/_doc/x", document},
		{"fio2es_reader", "POST", "/" + prefix + "-runs/_delete_by_query", all},
		{"fio2es_reader", "DELETE", "/" + prefix + "-runs", nil},
		{"fio2es_ingest", "DELETE", "/" + prefix + "-runs", nil},
		{"fio2es_ingest", "PUT", "/" + prefix + "-latency.host-1999.02", map[string]any{}},
		{"fio2es_ingest", "PUT", "/_index_template/" + prefix + "-runs", map[string]any{"index_patterns": []string{prefix + "-runs"}}},
		{"fio2es_ingest", "PUT", "/" + prefix + "-other/_doc/x", document},
		{"fio2es_ingest", "GET", "/_tasks", nil},
		{"fio2es_setup", "POST", "/" + prefix + "-runs/_search", all},
		{"fio2es_setup", "PUT", "/" + prefix + "-runs/_doc/x", document},
		{"fio2es_setup", "DELETE", "/" + prefix + "-other", nil},
		{"fio2es_setup", "GET", "/_tasks", nil},
	} {
		if status := a.do(c.method, c.path, keys[c.role], c.body, nil); status != http.StatusForbidden {
			a.t.Errorf("%s: %s %s: %d instead of 403", c.role, c.method, c.path, status)
		}
	}
}
