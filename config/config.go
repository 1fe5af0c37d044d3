// Package config has fio2es's settings: where each comes from, what its default is,
// and what is wrong with it.
//
// A setting is a flag, else a FIO2ES_* variable of the environment, else an entry of
// fio2es.yaml, else its default. A fio2es.yaml in the current folder may come from somebody
// else, so it sets only how runs are analysed. Unknown names are errors, and all faults are
// reported at once. Packages below do not import this one: each takes its own options.
package config

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Config is all settings. Field tags are the names in fio2es.yaml; a flag has dashes in
// place of dots and underscores, a variable is in capitals with underscores.
type Config struct {
	History  string `mapstructure:"history"` // the file of the embedded history
	Prefix   string `mapstructure:"prefix"`  // of index names
	Analysis `mapstructure:",squash"`

	Elasticsearch Elasticsearch `mapstructure:"elasticsearch"`
	Kibana        Kibana        `mapstructure:"kibana"`
	Compact       Compact       `mapstructure:"compact"`

	// Origins are the places that settings were taken from, by names such as
	// elasticsearch.addresses: a flag, a variable, or files. Defaults are not in it.
	Origins map[string]string `mapstructure:"-"`
}

// Analysis is how runs are read. A file found in the current folder may be somebody else's, so
// it sets nothing else: neither where runs and passwords are sent nor which files are read or
// written.
type Analysis struct {
	Source string   `mapstructure:"source"` // hist or raw, where a run has both
	Levels []string `mapstructure:"levels"` // cluster, host, job
	SLA    []string `mapstructure:"sla"`    // rules that runs are checked against: p99 <= 10ms
	Jobs   int      `mapstructure:"jobs"`   // goroutines that parse; 0: one for each CPU

	// How requests are put into windows.
	Interval  Interval `mapstructure:"interval"`  // length of the windows; 0: a multiple of the logs' interval, at least 1s; auto: as precision demands
	Precision string   `mapstructure:"precision"` // of a percentile in each window, where interval is auto: p99:10%
	Weighting string   `mapstructure:"weighting"` // inflight or completion
	InFlight  string   `mapstructure:"inflight"`  // long: requests longer than a window are spread; all: all are
	Tolerance float64  `mapstructure:"tolerance"` // share of its length by which a row may leave its window
	Align     string   `mapstructure:"align"`     // run or job

	// What the files of runs do not say, or not rightly.
	Archive string            `mapstructure:"archive"` // name in place of the archive's own
	Labels  map[string]string `mapstructure:"labels"`  // for every run
	Start   string            `mapstructure:"start"`   // RFC 3339, for runs whose files do not say it
	Offset  map[string]string `mapstructure:"offset"`  // milliseconds by host: corrections of their clocks
	Groups  int               `mapstructure:"groups"`  // of bins, of a fio that was rebuilt: 17 to 64; 0: as columns and reports say
	Unit    string            `mapstructure:"unit"`    // of its bins: ns or us
}

// Elasticsearch is the cluster with the history, if there is one.
type Elasticsearch struct {
	Addresses   []string `mapstructure:"addresses"` // URLs; with none, and no cloud id, the history is embedded
	CloudID     string   `mapstructure:"cloud_id"`
	Credentials `mapstructure:",squash"`
	CA          string `mapstructure:"ca"`          // PEM file of the authorities to trust
	Fingerprint string `mapstructure:"fingerprint"` // SHA-256 of a certificate to trust
	AllowPlain  bool   `mapstructure:"allow_plain"` // send credentials over http to other machines
	Proxy       string `mapstructure:"proxy"`
	GzipLevel   int    `mapstructure:"gzip_level"` // of requests, 1 to 9; 0: 2, or none if all nodes are on this machine; -1: none, nor of answers
	Rejects     string `mapstructure:"rejects"`    // file for documents that the cluster refuses for good

	RequestTimeout time.Duration `mapstructure:"request_timeout"` // until the end of an answer, of Kibana too
	GiveUpAfter    time.Duration `mapstructure:"give_up_after"`   // time without progress that is waited; 0: not at all

	// How interval documents are stored.
	Shards   int    `mapstructure:"shards"`    // of each index
	Replicas string `mapstructure:"replicas"`  // a number, or a range such as 0-1
	KeepDays int    `mapstructure:"keep_days"` // 0: for ever
	Policy   string `mapstructure:"policy"`    // a lifecycle policy in place of fio2es's own; none: no policy
}

// Compact says which runs fio2es compact makes smaller, and how far.
type Compact struct {
	OlderThan string        `mapstructure:"older_than"` // an age such as 90d, or a date
	To        time.Duration `mapstructure:"to"`         // length of their windows
}

// Enabled reports whether the history is in a cluster.
func (e *Elasticsearch) Enabled() bool { return len(e.Addresses) > 0 || e.CloudID != "" }

// Name is what messages call the cluster.
func (e *Elasticsearch) Name() string {
	if len(e.Addresses) == 0 {
		return "Elastic Cloud"
	}
	return withoutCredentials(e.Addresses[0])
}

// Name is what messages call the Kibana. It is empty if the settings name none.
func (k *Kibana) Name() string { return withoutCredentials(k.URL) }

// Default is every setting's default.
func Default() Config {
	return Config{
		History: defaultHistory(), Prefix: "fio",
		Analysis: Analysis{
			Source: "hist", Levels: []string{"cluster", "host"},
			Precision: "p99:10%", Weighting: "inflight", InFlight: "long", Tolerance: 0.05, Align: "run",
		},
		Elasticsearch: Elasticsearch{
			Rejects: "fio2es-rejects.ndjson", RequestTimeout: 90 * time.Second, GiveUpAfter: 5 * time.Minute,
			Shards: 1, Replicas: "0-1",
		},
		Compact: Compact{OlderThan: "90d", To: time.Minute},
	}
}

// userFolder is fio2es's folder for files of a kind, by the XDG base directory specification: in the one that a variable
// names, else below the user's home. It is "" if the user has no home.
func userFolder(variable, kind string) string {
	dir := os.Getenv(variable)
	if !filepath.IsAbs(dir) { // as the specification wants it
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", kind)
	}
	return filepath.Join(dir, "fio2es")
}

func defaultHistory() string {
	dir := userFolder("XDG_DATA_HOME", "share")
	if dir == "" {
		return "fio2es.db"
	}
	return filepath.Join(dir, "history.db")
}

// StateFolder is where what ingests remember is kept. It is "" if the user has no home.
func StateFolder() string { return userFolder("XDG_STATE_HOME", "state") }

// Settings are all settings by name, to be shown: without secrets, also those in addresses.
func Settings(c Config) map[string]any {
	c.Elasticsearch.Addresses = slices.Clone(c.Elasticsearch.Addresses)
	for i, a := range c.Elasticsearch.Addresses {
		c.Elasticsearch.Addresses[i] = withoutCredentials(a)
	}
	c.Elasticsearch.Proxy, c.Kibana.URL = withoutCredentials(c.Elasticsearch.Proxy), withoutCredentials(c.Kibana.URL)
	all := decoded(c)
	all["interval"] = c.Interval.String()
	es := all["elasticsearch"].(map[string]any)
	es["request_timeout"], es["give_up_after"] = c.Elasticsearch.RequestTimeout.String(), c.Elasticsearch.GiveUpAfter.String()
	all["compact"].(map[string]any)["to"] = c.Compact.To.String()
	return all
}
