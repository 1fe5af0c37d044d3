package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/es"
)

func TestKibanaClient(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	password, key, ca := file("password", "from a file\n"), file("key", "a2V5\n"), file("ca.pem", "PEM")
	cluster := Elasticsearch{Credentials: Credentials{Username: "elastic", PasswordFile: password}, CA: "nowhere", AllowPlain: true}
	for name, c := range map[string]struct {
		kibana Kibana
		want   es.Config
	}{
		"the cluster's credentials, and no more of it": {
			Kibana{URL: "https://kibana:5601"},
			es.Config{Addresses: []string{"https://kibana:5601"}, Username: "elastic", Password: "from a file"},
		},
		"its own": {
			Kibana{URL: "http://kibana:5601/base", Credentials: Credentials{APIKeyFile: key}, CACert: ca, AllowPlain: true},
			es.Config{Addresses: []string{"http://kibana:5601/base"}, APIKey: "a2V5", CACert: []byte("PEM"), AllowPlain: true},
		},
		"a user name": {
			Kibana{URL: "https://kibana:5601", Credentials: Credentials{Username: "me", Password: "mine"}},
			es.Config{Addresses: []string{"https://kibana:5601"}, Username: "me", Password: "mine"},
		},
		"in the address": {
			Kibana{URL: "https://me:mine@kibana:5601"},
			es.Config{Addresses: []string{"https://me:mine@kibana:5601"}},
		},
	} {
		cluster.RequestTimeout, cluster.GiveUpAfter = time.Minute, time.Hour
		got, err := (&Config{Elasticsearch: cluster, Kibana: c.kibana}).KibanaClient()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		c.want.NoGzip, c.want.Timeout, c.want.GiveUpAfter = true, time.Minute, time.Hour
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestKibanaCredentialsInAddress takes those of a cluster's address, too.
func TestKibanaCredentialsInAddress(t *testing.T) {
	c := Config{Elasticsearch: Elasticsearch{Addresses: []string{"https://a:9200", "https://me:mine@b:9200"}}, Kibana: Kibana{URL: "https://kibana:5601"}}
	got, err := c.KibanaClient()
	if err != nil || got.Username != "me" || string(got.Password) != "mine" {
		t.Errorf("%s, %v", got.Username, err)
	}
}

func TestKibanaFaults(t *testing.T) {
	_, err := load(t, "", map[string]string{"FIO2ES_KIBANA_URL": "me:hunter22@kibana:5601", "FIO2ES_KIBANA_SPACE": "My Space"})
	if err == nil || strings.Contains(err.Error(), "hunter22") || !strings.Contains(err.Error(), "kibana.url: want an address such as https://host:5601") ||
		!strings.Contains(err.Error(), "FIO2ES_KIBANA_SPACE: want the identifier") {
		t.Errorf("got %v", err)
	}
}

// TestAlertmanager: the address may have a password, which is not shown.
func TestAlertmanager(t *testing.T) {
	c, err := load(t, "", map[string]string{"FIO2ES_ALERTS_ALERTMANAGER": "https://me:hunter22@am:9093/prefix"})
	if got := Settings(c)["alerts"].(map[string]any)["alertmanager"]; err != nil || got != "https://am:9093/prefix" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err = load(t, "", map[string]string{"FIO2ES_ALERTS_ALERTMANAGER": "me:hunter22@am:9093"}); err == nil || strings.Contains(err.Error(), "hunter22") ||
		!strings.Contains(err.Error(), "alerts.alertmanager: want an address such as https://host:9093") {
		t.Errorf("got %v", err)
	}
}

// TestKibanaSpaceInAddress: Kibana would import the objects into the space under ids that our links do not have.
func TestKibanaSpaceInAddress(t *testing.T) {
	for address, space := range map[string]string{
		"http://kibana:5601/s/lab": "lab", "http://kibana:5601/base/s/lab/": "lab", "http://kibana:5601/s": "", "http://kibana:5601/base": "", "http://kibana:5601/s/lab/app": "",
	} {
		_, err := load(t, "", map[string]string{"FIO2ES_KIBANA_URL": address})
		if (err == nil) != (space == "") || err != nil && !strings.Contains(err.Error(), "want the address without it, and --kibana-space=SPACE") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
