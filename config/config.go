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

// Config has all settings. The tags of fields are the names in fio2es.yaml. A variable of the environment is in
// capitals with underscores. Only settings that people change from call to call have flags.
type Config struct {
	History  string `mapstructure:"history"` // the file of the embedded history
	Prefix   string `mapstructure:"prefix"`  // first word of the names of indices
	Host     string `mapstructure:"host"`    // name of this machine in runs that it stores; empty: that of the system
	TZ       string `mapstructure:"tz"`      // time zone of times for people: UTC, local, or a name such as Europe/Berlin
	Analysis `mapstructure:",squash"`

	Elasticsearch Elasticsearch `mapstructure:"elasticsearch"`
	Kibana        Kibana        `mapstructure:"kibana"`
	Compact       Compact       `mapstructure:"compact"`
	Alerts        Alerts        `mapstructure:"alerts"`

	// Origins are the places that settings come from: a flag, a variable, or files. Keys are names such as
	// elasticsearch.addresses. Defaults are not listed.
	Origins map[string]string `mapstructure:"-"`
}

// Analysis has the settings of how runs are read. A file in the current folder may be from somebody else, so it sets
// nothing more: not where runs and passwords are sent, and not which files are read or written.
type Analysis struct {
	Source string   `mapstructure:"source"` // hist or raw, where a run has logs of both kinds
	Levels []string `mapstructure:"levels"` // levels that have windows: cluster, host, section, job
	SLA    []string `mapstructure:"sla"`    // rules that runs are checked against: p99 <= 10ms
	// Method is how percentiles are read from histograms: interpolated; or fio, as fio prints them.
	Method  string `mapstructure:"method"`
	Threads int    `mapstructure:"threads"` // goroutines that parse; 0: one for each CPU

	// How requests are divided among windows.

	Interval  string  `mapstructure:"interval"`  // length of the windows; empty: a multiple of the logs' interval, at least 1s, of several where hosts began apart; auto: as precision demands
	Precision string  `mapstructure:"precision"` // where interval is auto: a percentile, and how far its confidence interval may reach to either side
	Weighting string  `mapstructure:"weighting"` // where a request counts that takes longer than a window: inflight, in each that it was in; completion
	InFlight  string  `mapstructure:"inflight"`  // which requests inflight spreads over windows: long, those longer than a window; all
	Tolerance float64 `mapstructure:"tolerance"` // share of its length by which a row may leave its window
	Align     string  `mapstructure:"align"`     // what windows are counted from: the start of the run, or of each job

	// Coarsen joins bins, so that documents take less room: 2, 5%, or 2 digits.
	Coarsen string `mapstructure:"coarsen"`
	// Confidence is that of the intervals of percentiles in documents, from 0.5 to 0.99; 0: without them.
	Confidence float64 `mapstructure:"confidence"`

	// What the files of runs do not say, or say wrongly.

	Archive string            `mapstructure:"archive"` // name of the archive in place of its own
	Labels  map[string]string `mapstructure:"labels"`  // NAME=VALUE of every run
	Start   string            `mapstructure:"start"`   // start of runs whose files do not say it: 2026-10-01T09:12:00Z
	Offset  map[string]string `mapstructure:"offset"`  // corrections of the clocks of hosts: HOST=MILLISECONDS
	Groups  int               `mapstructure:"groups"`  // groups of bins, 17 to 64, if fio was rebuilt; 0: from columns and reports
	Unit    string            `mapstructure:"unit"`    // ns or us, of logs whose files do not show it; empty: from columns and reports
}

// Elasticsearch has the settings of the cluster that stores the history, if there is one.
type Elasticsearch struct {
	Addresses   []string `mapstructure:"addresses"` // URLs of the nodes of the cluster; if there are none, the history is embedded
	Credentials `mapstructure:",squash"`
	CA          string `mapstructure:"ca"`          // PEM file of the authorities to trust
	AllowPlain  bool   `mapstructure:"allow_plain"` // send credentials over http to other machines

	RequestTimeout time.Duration `mapstructure:"request_timeout"` // for a request and its answer, of Kibana too
	GiveUpAfter    time.Duration `mapstructure:"give_up_after"`   // waiting without progress ends after this time; 0: do not wait

	// How interval documents are stored.

	Shards   int    `mapstructure:"shards"`    // of each index of windows
	Replicas string `mapstructure:"replicas"`  // copies of each index: a number, or a range such as 0-1
	KeepDays int    `mapstructure:"keep_days"` // days after which a lifecycle deletes an index of a month; 0: for ever
	Policy   string `mapstructure:"policy"`    // name of a lifecycle policy of yours; none: no policy
}

// Compact says which runs fio2es compact changes, and to which windows.
type Compact struct {
	OlderThan string        `mapstructure:"older_than"` // runs that are older: an age such as 90d, or a date
	To        time.Duration `mapstructure:"to"`         // length of the new windows
}

// Alerts says where alerts about live runs go.
type Alerts struct {
	Alertmanager string `mapstructure:"alertmanager"` // its address; empty: none
	Exec         string `mapstructure:"exec"`         // program that is called once an alert fires or is resolved
}

// HostName returns the name of this machine in runs. It is "" if the system does not know it.
func (c *Config) HostName() string {
	if c.Host != "" {
		return c.Host
	}
	name, _ := os.Hostname()
	return name
}

// Enabled reports whether the history is in a cluster.
func (e *Elasticsearch) Enabled() bool { return len(e.Addresses) > 0 }

// Name returns the name of the cluster for messages.
func (e *Elasticsearch) Name() string {
	return withoutCredentials(e.Addresses[0])
}

// Name returns the name of Kibana for messages. It is empty if no Kibana is set.
func (k *Kibana) Name() string { return withoutCredentials(k.URL) }

// Default returns the default of every setting.
func Default() Config {
	file := "fio2es.db"
	if dir := userFolder("XDG_DATA_HOME"); dir != "" {
		file = filepath.Join(dir, "history.db")
	}
	return Config{
		History: file, Prefix: "fio", TZ: "UTC",
		Analysis: Analysis{
			Source: "hist", Levels: []string{"cluster", "host", "section"},
			Precision: "p99:10%", Weighting: "inflight", InFlight: "long", Tolerance: 0.05, Align: "run", Method: "interpolated",
		},
		Elasticsearch: Elasticsearch{
			RequestTimeout: 90 * time.Second, GiveUpAfter: 5 * time.Minute,
			Shards: 1, Replicas: "0-1",
		},
		Compact: Compact{OlderThan: "90d", To: time.Minute},
	}
}

// StateFolder returns the folder where ingests into a cluster remember what they read. It is "" if the user has no home.
func StateFolder() string { return userFolder("XDG_STATE_HOME") }

// Settings returns all settings by name, for people. Secrets are removed, also from addresses.
func Settings(c Config) map[string]any {
	c.Elasticsearch.Addresses = slices.Clone(c.Elasticsearch.Addresses)
	for i, a := range c.Elasticsearch.Addresses {
		c.Elasticsearch.Addresses[i] = withoutCredentials(a)
	}
	c.Kibana.URL, c.Alerts.Alertmanager = withoutCredentials(c.Kibana.URL), withoutCredentials(c.Alerts.Alertmanager)
	all := decoded(c)
	es := all["elasticsearch"].(map[string]any)
	es["request_timeout"], es["give_up_after"] = c.Elasticsearch.RequestTimeout.String(), c.Elasticsearch.GiveUpAfter.String()
	all["compact"].(map[string]any)["to"] = c.Compact.To.String()
	return all
}
