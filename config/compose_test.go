package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/internal/es"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// interpolated are the variables that docker-compose.yml takes from .env.
var interpolated = regexp.MustCompile(`\$\{([A-Z_]+)(:-[^}]*|:\?[^}]*)?\}`)

// composeFile is what is checked of docker-compose.yml.
type composeFile struct {
	Services map[string]struct {
		Image       string
		Environment map[string]string
		DependsOn   map[string]any `yaml:"depends_on"`
		CapDrop     []string       `yaml:"cap_drop"`
		SecurityOpt []string       `yaml:"security_opt"`
		ReadOnly    bool           `yaml:"read_only"`
		Privileged  bool
		User        string
		Volumes     []string
		Ports       []string
		Entrypoint  []string
		Command     []string
	}
}

func composed(t *testing.T, text string) composeFile {
	t.Helper()
	var compose composeFile
	if err := yaml.Unmarshal([]byte(text), &compose); err != nil {
		t.Fatal(err)
	}
	return compose
}

// TestComposeIsHardened: no container has capabilities or can get any, file systems are
// read-only, images are pinned by digest, ports are open on this machine only, and only the
// service that makes the users has the superuser's password.
func TestComposeIsHardened(t *testing.T) {
	given := regexp.MustCompile(`\$\{[A-Z0-9_]+:-([^}]*)\}`).ReplaceAllString(read(t, "docker-compose.yml"), "$1")
	pinned := regexp.MustCompile(`:[a-z0-9.-]+@sha256:[0-9a-f]{64}$`)
	for name, s := range composed(t, given).Services {
		if !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) || s.Privileged {
			t.Errorf("%s: capabilities %v, %v, privileged %v", name, s.CapDrop, s.SecurityOpt, s.Privileged)
		}
		if !s.ReadOnly && name != "elasticsearch" { // which makes its keystore
			t.Errorf("%s: its file system can be written", name)
		}
		if !pinned.MatchString(s.Image) && s.Image != "fio2es:local" {
			t.Errorf("%s: image %s is not pinned", name, s.Image)
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: port %s is open to others", name, port)
			}
		}
		if _, ok := s.Environment["ELASTIC_PASSWORD"]; ok && name != "elasticsearch" && name != "users" {
			t.Errorf("%s has the superuser's password", name)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^ARG [A-Z_]+_IMAGE=(.*)$`).FindAllStringSubmatch(read(t, "Dockerfile"), -1) {
		if !pinned.MatchString(line[1]) {
			t.Errorf("Dockerfile: %s is not pinned", line[1])
		}
	}
}

// TestComposeRole: the role of fio2es has the privileges that the documents say, and no others.
func TestComposeRole(t *testing.T) {
	type role struct {
		Cluster []string
		Indices []struct{ Names, Privileges []string }
	}
	want := map[string]bool{}
	docs := read(t, "docs/elasticsearch.md")
	for _, name := range []string{"fio2es_setup", "fio2es_ingest"} {
		_, block, _ := strings.Cut(docs, "PUT /_security/role/"+name+"\n")
		block, _, _ = strings.Cut(block, "```")
		var r role
		if err := json.Unmarshal([]byte(block), &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range slices.Concat(r.Cluster, r.Indices[0].Privileges, r.Indices[0].Names) {
			want[p] = true
		}
	}
	delete(want, "indices:admin/index_template/get") // manage_index_templates has it
	var own role
	if err := json.Unmarshal([]byte(read(t, "examples/compose/role.json")), &own); err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, p := range slices.Concat(own.Cluster, own.Indices[0].Privileges, own.Indices[0].Names) {
		has[p] = true
	}
	if diff := cmp.Diff(want, has); diff != "" {
		t.Error(diff)
	}
}

// TestCompose: the variables of fio2es in docker-compose.yml are settings, and lead to an
// Elasticsearch and a Kibana.
func TestCompose(t *testing.T) {
	text := interpolated.ReplaceAllString(read(t, "docker-compose.yml"), "x$1")
	compose := composed(t, text)
	c, err := load(t, "", compose.Services["fio2es"].Environment)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := c.Elasticsearch.Client()
	if err != nil {
		t.Fatal(err)
	}
	kibana, err := c.KibanaClient()
	if err != nil {
		t.Fatal(err)
	}
	for name, client := range map[string]es.Config{"elasticsearch": cluster, "kibana": kibana} {
		if len(client.Addresses) != 1 || !strings.HasPrefix(client.Addresses[0], "http://"+name+":") || client.Username != "fio2es" || client.Password != "xINGEST_PASSWORD" {
			t.Errorf("%s: %+v", name, client)
		}
		if _, ok := compose.Services["fio2es"].DependsOn[name]; !ok {
			t.Errorf("fio2es does not wait for %s", name)
		}
		if _, err := es.New(client); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDotEnv: .env.example has what docker-compose.yml asks for, and nothing else.
func TestDotEnv(t *testing.T) {
	asked, given := map[string]bool{}, map[string]bool{}
	for _, m := range interpolated.FindAllStringSubmatch(read(t, "docker-compose.yml"), -1) {
		asked[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^([A-Z_]+)=`).FindAllStringSubmatch(read(t, ".env.example"), -1) {
		given[m[1]] = true
	}
	for name := range asked {
		if !given[name] && name != "FIO2ES_VERSION" { // only who builds images sets it
			t.Errorf("%s is not in .env.example", name)
		}
	}
	for name := range given {
		if !asked[name] {
			t.Errorf("%s is not in docker-compose.yml", name)
		}
	}
}

// TestVariablesInDocs: what the documents name are settings, all in capitals or with dots.
func TestVariablesInDocs(t *testing.T) {
	isVariable := func(text string) bool {
		return slices.ContainsFunc(Names(), func(name string) bool { return Variable(name) == text })
	}
	docs, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(docs, "../README.md", "../docker-compose.yml") {
		text := read(t, strings.TrimPrefix(file, "../"))
		for _, m := range regexp.MustCompile(`FIO2ES_([A-Z][A-Z_]*[A-Z])\b`).FindAllStringSubmatch(text, -1) {
			if !isVariable(m[0]) && !strings.HasPrefix(m[1], "TEST_") && !strings.HasPrefix(m[1], "SHIM_") && m[1] != "CONFIG" && m[1] != "VERSION" {
				t.Errorf("%s: %s is no setting", file, m[0])
			}
		}
		for _, m := range regexp.MustCompile("`((?:elasticsearch|kibana)\\.[a-z_]+)`").FindAllStringSubmatch(text, -1) {
			if !slices.Contains(Names(), m[1]) {
				t.Errorf("%s: %s is no setting", file, m[1])
			}
		}
	}
}
