package setup_test

import (
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping/templates"
)

// TestRolesInDocs: the requests in docs/elasticsearch.md are JSON, and their roles cover our indices and no others.
func TestRolesInDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/elasticsearch.md")
	if err != nil {
		t.Fatal(err)
	}
	type role struct {
		Cluster []string
		Indices []struct{ Names, Privileges []string }
	}
	roles := 0
	for _, block := range strings.Split(string(text), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		request, body, _ := strings.Cut(block, "\n")
		var r role
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			t.Errorf("%s: %v", request, err)
		}
		for _, i := range r.Indices {
			roles++
			checkNames(t, request, i.Names)
		}
	}
	if roles != 3 {
		t.Errorf("found %d roles", roles)
	}
}

func checkNames(t *testing.T, request string, names []string) {
	t.Helper()
	used := map[string]bool{}
	for _, f := range templates.Families("") {
		covered := false
		for _, n := range names {
			if ok, _ := path.Match(n, f.Pattern); ok {
				covered, used[n] = true, true
			}
		}
		if !covered {
			t.Errorf("%s: names %q do not cover %s", request, names, f.Pattern)
		}
	}
	if len(used) != len(names) {
		t.Errorf("%s: names %q cover more than they have to", request, names)
	}
}
