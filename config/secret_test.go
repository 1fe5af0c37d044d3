package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestSettingsHaveNoSecrets sets each secret, and shows all settings.
func TestSettingsHaveNoSecrets(t *testing.T) {
	c, err := load(t, "", map[string]string{
		"FIO2ES_ELASTICSEARCH_ADDRESSES": "https://me:hunter21@one:9200,https://two:9200", "FIO2ES_ELASTICSEARCH_PASSWORD": "hunter22",
		"FIO2ES_ELASTICSEARCH_API_KEY": "hunter23",
		"FIO2ES_KIBANA_URL":            "https://me:hunter25@kibana:5601", "FIO2ES_KIBANA_PASSWORD": "hunter26", "FIO2ES_KIBANA_API_KEY": "hunter27",
	})
	if err != nil {
		t.Fatal(err)
	}
	if name := c.Elasticsearch.Name(); name != "https://one:9200" {
		t.Errorf("named %s", name)
	}
	before := c.Elasticsearch.Addresses[0]
	text, err := yaml.Marshal(Settings(c))
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{string(text), fmt.Sprint(c.Elasticsearch.Password, c.Kibana.APIKey)} {
		if strings.Contains(shown, "hunter") {
			t.Errorf("shows a secret:\n%s", shown)
		}
	}
	if !strings.Contains(string(text), "https://one:9200") || c.Elasticsearch.Addresses[0] != before {
		t.Errorf("%s became %s in\n%s", before, c.Elasticsearch.Addresses[0], text)
	}
}

func TestWithoutCredentials(t *testing.T) {
	for address, want := range map[string]string{
		"":                        "",
		"https://es:9200":         "https://es:9200",
		"https://me:pw@es:9200/x": "https://es:9200/x",
		"me:pw@es:9200":           "[redacted]",
		"https://me:p%w@es":       "[redacted]",
	} {
		if got := withoutCredentials(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// TestNoValueInFaults: no error quotes what is in a settings file or in a variable, in any place.
func TestNoValueInFaults(t *testing.T) {
	check := func(text string, err error) {
		t.Helper()
		if err == nil || strings.Contains(strings.ToLower(err.Error()), "hunter2") || strings.Contains(err.Error(), "\n\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
	names := Names()
	variables := map[string]string{}
	for _, value := range []string{"hunter2 x", "'Hunter2'", "[hunter2]", "{hunter2: hunter2}", "[{hunter2: x}]", "!!null hunter2", "!!int hunter2", "*hunter2", "!!binary hunter2", "%hunter2", "\"hunter2"} {
		var plain, sections strings.Builder
		last := ""
		for _, name := range names { // in order, so that those of a section follow one another
			variables[Variable(name)] = "hunter2"
			section, key, ok := strings.Cut(name, ".")
			switch {
			case !ok:
				fmt.Fprintf(&plain, "%s: %s\n", name, value)
				continue
			case section != last:
				fmt.Fprintf(&sections, "%s:\n", section)
			}
			last = section
			fmt.Fprintf(&sections, "  %s: %s\n", key, value)
		}
		newFolders(t, plain.String()+sections.String(), "")
		_, err := loadHere(t, "")
		check(value, err)
	}
	_, err := load(t, "", variables)
	check("variables", err)
	for _, text := range []string{
		"hunter2\n", "- hunter2\n", "elasticsearch: {password:hunter2}\n", "password:hunter2: 1\n", "elasticsearch:\n  password:hunter2\n",
		"elasticsearch:\n  username: a\n  password:hunter2\n", "a.b=hunter2: 1\n", "root:x:hunter2\n", "tolerance: hunter2\ninterval: hunter2\n",
	} {
		newFolders(t, text, "")
		_, err := loadHere(t, "")
		check(text, err)
	}
}

func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, e := range map[string]Elasticsearch{
		"elasticsearch.password_file: " + empty + " is empty":                                          {Credentials: Credentials{PasswordFile: empty}},
		`elasticsearch.password is "[redacted]", which stands for a secret that was not shown: set it`: {Credentials: Credentials{Password: "[redacted]"}},
		"elasticsearch.api_key and elasticsearch.api_key_file are both set: set only one":              {Credentials: Credentials{APIKey: "x", APIKeyFile: empty}},
		"elasticsearch.ca: " + filepath.Join(dir, "none") + ": no such file or directory":              {CA: filepath.Join(dir, "none")},
		"elasticsearch.api_key_file: " + filepath.Join(dir, "no") + ": no such file or directory":      {Credentials: Credentials{APIKeyFile: filepath.Join(dir, "no")}},
	} {
		if _, err := e.Client(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestNoPasswordInFlags(t *testing.T) {
	_, err := load(t, "", nil, "--elasticsearch=https://a:9200,https://me:hunter22@b:9200")
	if err == nil || strings.Contains(err.Error(), "hunter22") || !strings.Contains(err.Error(), "FIO2ES_ELASTICSEARCH_PASSWORD") {
		t.Errorf("got %v", err)
	}
	if _, err := load(t, "", map[string]string{"FIO2ES_ELASTICSEARCH_ADDRESSES": "https://me:hunter22@b:9200"}); err != nil {
		t.Errorf("in the environment: %v", err)
	}
}
