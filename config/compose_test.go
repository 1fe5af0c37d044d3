package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/internal/elastic"
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

// TestCompose: the variables of fio2es in docker-compose.yml are settings, and lead to an
// Elasticsearch and a Kibana.
func TestCompose(t *testing.T) {
	text := interpolated.ReplaceAllString(read(t, "docker-compose.yml"), "x$1")
	var compose struct {
		Services map[string]struct {
			Environment map[string]string
			DependsOn   map[string]any `yaml:"depends_on"`
		}
	}
	if err := yaml.Unmarshal([]byte(text), &compose); err != nil {
		t.Fatal(err)
	}
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
	for name, client := range map[string]elastic.Config{"elasticsearch": cluster, "kibana": kibana} {
		if len(client.Addresses) != 1 || !strings.HasPrefix(client.Addresses[0], "http://"+name+":") || client.Username != "elastic" || client.Password != "xELASTIC_PASSWORD" {
			t.Errorf("%s: %+v", name, client)
		}
		if _, ok := compose.Services["fio2es"].DependsOn[name]; !ok {
			t.Errorf("fio2es does not wait for %s", name)
		}
		if _, err := elastic.New(client); err != nil {
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
	keys := setDefaults(viper.NewWithOptions(viper.KeyDelimiter(delimiter)), Default())
	known := func(separator, name string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return strings.ReplaceAll(key, delimiter, separator) == strings.ToLower(name) })
	}
	docs, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(docs, "../README.md", "../docker-compose.yml") {
		text := read(t, strings.TrimPrefix(file, "../"))
		for _, m := range regexp.MustCompile(`FIO2ES_([A-Z][A-Z_]*[A-Z])\b`).FindAllStringSubmatch(text, -1) {
			if !known("_", m[1]) && !strings.HasPrefix(m[1], "TEST_") && m[1] != "CONFIG" && m[1] != "VERSION" {
				t.Errorf("%s: %s is no setting", file, m[0])
			}
		}
		for _, m := range regexp.MustCompile("`((?:elasticsearch|kibana)\\.[a-z_]+)`").FindAllStringSubmatch(text, -1) {
			if !known(".", m[1]) {
				t.Errorf("%s: %s is no setting", file, m[1])
			}
		}
	}
}
