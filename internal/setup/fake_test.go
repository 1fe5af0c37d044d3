package setup_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
)

type tree = map[string]any

// fake is a cluster with templates, policies and mappings, but without documents. Its answers are like recorded ones
// of Elasticsearch 8.6.1 (TestFakeIsTrue) in what setup reads: who manages an object, and errors.
type fake struct {
	t      *testing.T
	server *httptest.Server

	mu         sync.Mutex
	policies   map[string]tree // with policy and version
	components map[string]tree
	templates  map[string]tree
	indices    map[string]tree                                       // mappings by index
	aliases    map[string]string                                     // index by alias
	fault      func(method, path string) (status int, answer string) // makes requests fail; status 0: no fault
	writes     []string
}

func newFake(t *testing.T) *fake {
	f := &fake{
		t: t, policies: map[string]tree{}, components: map[string]tree{}, templates: map[string]tree{},
		indices: map[string]tree{}, aliases: map[string]string{},
	}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

// client returns a client of the fake.
func (f *fake) client() *es.Client {
	client, err := es.New(es.Config{Addresses: []string{f.server.URL}, GiveUpAfter: -1, NoGzip: true})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(client.Close)
	return client
}

// Perform sends a request to the address.
func (f *fake) Perform(req *http.Request) (*http.Response, error) {
	return to(f.server.URL).Perform(req)
}

// to is a transport to one address.
type to string

func (address to) Perform(req *http.Request) (*http.Response, error) {
	whole, err := http.NewRequestWithContext(req.Context(), req.Method, string(address)+req.URL.String(), req.Body)
	if err != nil {
		return nil, err
	}
	whole.Header = req.Header
	return http.DefaultClient.Do(whole)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	if f.fault != nil {
		if status, answer := f.fault(r.Method, r.URL.Path); status != 0 {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
			return
		}
	}
	body := tree{}
	if len(text) > 0 {
		if r.Header.Get("Content-Type") != "application/json" {
			f.t.Errorf("%s %s: content type %q", r.Method, r.URL, r.Header.Get("Content-Type"))
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&body); err != nil {
			f.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
	}
	if r.Method != http.MethodGet {
		f.writes = append(f.writes, r.Method+" "+r.URL.Path)
	}
	status, answer := f.answer(r, body)
	w.Header().Set("X-Elastic-Product", "Elasticsearch")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		f.t.Error(err)
	}
}

var acknowledged = tree{"acknowledged": true}

func failed(status int, typ, format string, args ...any) (int, tree) {
	return status, tree{"status": status, "error": tree{"type": typ, "reason": fmt.Sprintf(format, args...)}}
}

func (f *fake) answer(r *http.Request, body tree) (int, tree) {
	put := r.Method == http.MethodPut
	dir, name := path.Split(r.URL.Path)
	switch {
	case dir == "/_ilm/policy/" && put:
		return f.putPolicy(name, body)
	case dir == "/_ilm/policy/":
		if p, ok := f.policies[name]; ok {
			if r.URL.Query().Get("filter_path") == "*.version" {
				p = tree{"version": p["version"]}
			}
			return 200, tree{name: p}
		}
		return failed(404, "resource_not_found_exception", "Lifecycle policy not found: %s", name)
	case dir == "/_component_template/" && put:
		f.components[name] = body
		return 200, acknowledged
	case dir == "/_component_template/":
		if c, ok := f.components[name]; ok {
			return 200, tree{"component_templates": []any{tree{"name": name, "component_template": c}}}
		}
		return failed(404, "resource_not_found_exception", "component template matching [%s] not found", name)
	case dir == "/_index_template/" && put:
		return f.putTemplate(name, body)
	case strings.HasPrefix(r.URL.Path, "/_index_template"):
		return f.getTemplates(strings.TrimPrefix(r.URL.Path, "/_index_template"))
	case name == "_mapping" && put:
		return f.putMapping(strings.Trim(dir, "/"), body)
	case name == "_mapping":
		return f.getMapping(strings.Trim(dir, "/"), r.URL.Query().Get("ignore_unavailable") == "true")
	case put && dir == "/":
		if f.indices[name] != nil {
			return failed(400, "resource_already_exists_exception", "index [%s] already exists", name)
		}
		if m, ok := body["mappings"].(tree); ok {
			f.indices[name] = clone(m).(tree)
		} else {
			f.makeIndex(name)
		}
		return 200, tree{"acknowledged": true, "shards_acknowledged": true, "index": name}
	}
	f.t.Errorf("unexpected %s %s", r.Method, r.URL)
	return failed(400, "illegal_argument_exception", "no handler found")
}

func (f *fake) putPolicy(name string, body tree) (int, tree) {
	policy, _ := body["policy"].(tree)
	for _, phase := range policy["phases"].(tree) {
		if p := phase.(tree); p["min_age"] == nil {
			p["min_age"] = "0ms"
		}
		if d, ok := phase.(tree)["actions"].(tree)["delete"].(tree); ok {
			d["delete_searchable_snapshot"] = true
		}
	}
	version := 1
	if old, ok := f.policies[name]; ok {
		version = old["version"].(int)
		if fmt.Sprint(old["policy"]) != fmt.Sprint(policy) {
			version++
		}
	}
	f.policies[name] = tree{
		"version": version, "modified_date": "2026-11-21T00:00:00.000Z", "policy": policy,
		"in_use_by": tree{"indices": []any{}, "data_streams": []any{}, "composable_templates": []any{}},
	}
	return 200, acknowledged
}

func (f *fake) putTemplate(name string, body tree) (int, tree) {
	components, _ := body["composed_of"].([]any)
	for _, c := range components {
		if f.components[c.(string)] == nil {
			return failed(400, "invalid_index_template_exception",
				"index_template [%s] invalid, cause [index template [%s] specifies component templates [%s] that do not exist]", name, name, c)
		}
	}
	for other, t := range f.templates {
		if other != name && fmt.Sprint(t["priority"]) == fmt.Sprint(body["priority"]) && fmt.Sprint(t["index_patterns"]) == fmt.Sprint(body["index_patterns"]) {
			return failed(400, "illegal_argument_exception", "index template [%s] has index patterns matching patterns from existing templates [%s]", name, other)
		}
	}
	f.templates[name] = body
	return 200, acknowledged
}

func (f *fake) getTemplates(name string) (int, tree) {
	name = strings.TrimPrefix(name, "/")
	found := []any{}
	for _, n := range slices.Sorted(maps.Keys(f.templates)) {
		if ok, _ := path.Match(name, n); ok || name == "" {
			found = append(found, tree{"name": n, "index_template": f.templates[n]})
		}
	}
	switch {
	case len(found) > 0 || name == "":
		return 200, tree{"index_templates": found}
	case strings.Contains(name, "*"):
		return 404, tree{"index_templates": found}
	}
	return failed(404, "resource_not_found_exception", "index template matching [%s] not found", name)
}

func (f *fake) putMapping(index string, body tree) (int, tree) {
	have, ok := f.indices[index]
	if !ok {
		return failed(404, "index_not_found_exception", "no such index [%s]", index)
	}
	next := clone(have).(tree)
	if err := merge(next, clone(body).(tree), ""); err != nil {
		return failed(400, "illegal_argument_exception", "%v", err)
	}
	f.indices[index] = next
	return 200, acknowledged
}

func (f *fake) getMapping(pattern string, lenient bool) (int, tree) {
	found := tree{}
	for name, m := range f.indices {
		if ok, _ := path.Match(pattern, name); ok || f.aliases[pattern] == name {
			found[name] = tree{"mappings": m}
		}
	}
	if len(found) == 0 && !lenient && !strings.Contains(pattern, "*") {
		return failed(404, "index_not_found_exception", "no such index [%s]", pattern)
	}
	return 200, found
}

// makeIndex creates an index as its first document would.
func (f *fake) makeIndex(name string) {
	for _, t := range f.templates {
		for _, p := range t["index_patterns"].([]any) {
			if ok, _ := path.Match(p.(string), name); ok {
				c := f.components[t["composed_of"].([]any)[0].(string)]
				f.indices[name] = clone(c["template"].(tree)["mappings"]).(tree)
				return
			}
		}
	}
	f.t.Fatalf("no template for %s", name)
}

func merge(have, add tree, path string) error {
	for k, v := range add {
		if k != "properties" {
			have[k] = v
			continue
		}
		if have[k] == nil {
			have[k] = tree{}
		}
		for name, f := range v.(tree) {
			old, ok := have[k].(tree)[name].(tree)
			if !ok {
				have[k].(tree)[name] = f
				continue
			}
			if was, is := old["type"], f.(tree)["type"]; was != is {
				return fmt.Errorf("mapper [%s%s] cannot be changed from type [%v] to [%v]", path, name, was, is)
			}
			if err := merge(old, f.(tree), path+name+"."); err != nil {
				return err
			}
		}
	}
	return nil
}

func clone(v any) any {
	switch v := v.(type) {
	case tree:
		out := tree{}
		for k, inner := range v {
			out[k] = clone(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = clone(inner)
		}
		return out
	}
	return v
}
