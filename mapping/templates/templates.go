package templates

import (
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/late"
	"github.com/fio2es/fio2es/mapping"
)

// Version is the version of all templates. Every change of the JSON files or of the fields of documents raises it,
// because an older fio2es must not replace newer templates.
const Version = 2

// ManagedBy is the value of _meta.managed_by in every object. An object with another value is not from fio2es.
const ManagedBy = "fio2es"

// Priority is the priority of the index templates.
const Priority = 500

// NoPolicy is the value of [Options].Policy for indices without a lifecycle policy.
const NoPolicy = "none"

// keepMargin is the number of days to add to KeepDays. An index that a lifecycle deletes has the runs of one month, and its age
// counts from its creation.
const keepMargin = 31

// ErrOptions means that no cluster accepts the options.
var ErrOptions = errors.New("invalid template options")

// Options are the options of the templates. The zero value is ready to use.
type Options struct {
	// Prefix is the index name prefix; "" is mapping.DefaultPrefix.
	Prefix string
	// Shards is the number of primary shards of each index of interval documents. They spread ingest over that many
	// nodes. 0 is 1, which is enough for some 50 GB in an index.
	Shards int
	// Replicas is their number, such as "2", or a range, such as "0-1": as many as the number of nodes allows. "" is
	// "0-1": a single node is green, a cluster keeps two copies.
	Replicas string
	// KeepDays is how many days interval documents are kept at least, from the start of their run; 0 is for ever.
	// Then indices are those of months, and are deleted up to 31 days later. Run documents are never deleted.
	KeepDays int
	// Policy is a lifecycle policy of the user for interval documents, in place of PREFIX-latency, which is not
	// installed then. It may delete, so indices are those of months. NoPolicy is none at all.
	Policy string
	// CompressedDocValues stores interval documents in a third of the room. Elasticsearch 9.3 and later can.
	CompressedDocValues bool
}

// Kind is the kind of an [Object].
type Kind string

// The kinds of objects.
const (
	Policy    Kind = "lifecycle policy"
	Component Kind = "component template"
	Index     Kind = "index template"
)

// Object is an object to install. A second installation changes nothing.
type Object struct {
	Kind Kind
	Name string
	Body Tree // of the request
}

// Family is a set of indices with the same fields.
type Family struct {
	Name     string // of its index template
	Pattern  string // of the names of its indices
	Mappings string // the component template with its fields
}

// Families are the families of indices: interval documents of each level, and runs.
func Families(prefix string) []Family {
	if prefix == "" {
		prefix = mapping.DefaultPrefix
	}
	var all []Family
	for _, l := range mapping.Levels {
		all = append(all, Family{
			prefix + "-latency-" + l.String(), prefix + "-latency." + l.String() + "-*", prefix + "-latency-mappings",
		})
	}
	return append(all, Family{prefix + "-runs", mapping.RunsIndex(prefix), prefix + "-runs-mappings"})
}

// Names returns the names of the index templates that a cluster must have before documents are sent.
func Names(prefix string) []string {
	var names []string
	for _, f := range Families(prefix) {
		names = append(names, f.Name)
	}
	return names
}

//go:embed *.json
var files embed.FS

// All returns the objects to install, in this order, because each may refer to those before it. It fails with
// [ErrOptions].
func All(opt Options) ([]Object, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	var all []Object
	if opt.policy() == opt.Prefix+"-latency" {
		all = append(all, policy(opt))
	}
	all = append(all,
		component(opt, "latency-mappings", latencyMappings(), nil),
		component(opt, "latency-settings", load("component-latency-settings.json", opt.Prefix, ""), latencySettings(opt)),
		component(opt, "runs-mappings", runMappings(), nil),
		component(opt, "runs-settings", load("component-runs-settings.json", opt.Prefix, ""), replicaSettings(opt)))
	for _, l := range mapping.Levels {
		t := load("index-latency.json", opt.Prefix, l.String())
		if opt.mayDelete() {
			t.set(true, "_meta", "months")
		}
		all = append(all, index(opt, "latency-"+l.String(), t))
	}
	return append(all, index(opt, "runs", load("index-runs.json", opt.Prefix, ""))), nil
}

// LatencyFields returns the type of each field of interval documents, by path.
func LatencyFields() map[string]string { return fields(latencyMappings()) }

// RunFields returns the type of each field of run documents, by path.
func RunFields() map[string]string { return fields(runMappings()) }

func fields(component Tree) map[string]string {
	return component.At("template", "mappings").leaves("", map[string]string{})
}

func policy(opt Options) Object {
	t, name := load("policy-latency.json", opt.Prefix, ""), opt.Prefix+"-latency"
	if opt.KeepDays > 0 {
		t.set(strconv.Itoa(opt.KeepDays+keepMargin)+"d", "policy", "phases", "delete", "min_age")
		t.set(true, "policy", "phases", "delete", "actions", "delete", "delete_searchable_snapshot")
	}
	t.At("policy").manage()
	return Object{Policy, name, t}
}

// component returns a component template. settings replace those in its file.
func component(opt Options, what string, t Tree, settings map[string]any) Object {
	for key, value := range settings {
		t.set(value, "template", "settings", "index", key)
	}
	if mappings := t.At("template", "mappings"); mappings != nil {
		mappings.manage() // so that indices know their version, too
	}
	t.manage()
	return Object{Component, opt.Prefix + "-" + what, t}
}

func index(opt Options, what string, t Tree) Object {
	t.set(Priority, "priority")
	t.manage()
	return Object{Index, opt.Prefix + "-" + what, t}
}

// The settings that options change; nil removes a setting.

func latencySettings(opt Options) map[string]any {
	s := replicaSettings(opt)
	s["number_of_shards"] = opt.Shards
	if s["lifecycle"] = map[string]any{"name": opt.policy()}; !opt.mayDelete() {
		s["lifecycle"] = nil // a policy that later deletes must not find an index that has the runs of a year
	}
	if opt.CompressedDocValues {
		s["use_time_series_doc_values_format"] = true
	}
	return s
}

func replicaSettings(opt Options) map[string]any {
	if n, err := strconv.Atoi(opt.Replicas); err == nil {
		return map[string]any{"number_of_replicas": n, "auto_expand_replicas": nil}
	}
	return map[string]any{"auto_expand_replicas": opt.Replicas}
}

// policy returns the name of the lifecycle policy of interval documents.
func (opt *Options) policy() string {
	if opt.Policy == "" {
		return opt.Prefix + "-latency"
	}
	return opt.Policy
}

// mayDelete reports whether a lifecycle may delete indices of interval documents.
func (opt *Options) mayDelete() bool {
	return opt.KeepDays > 0 || opt.policy() != opt.Prefix+"-latency" && opt.Policy != NoPolicy
}

// What Elasticsearch accepts as a prefix and as a number of replicas.
var (
	prefixes = late.Regexp(`^[a-z0-9][a-z0-9._-]*$`)
	replicas = late.Regexp(`^(\d{1,3}|\d{1,3}-(\d{1,3}|all))$`)
)

// isBackwards reports whether the end of a range of replicas is below its beginning.
func isBackwards(text string) bool {
	from, to, _ := strings.Cut(text, "-")
	least, err1 := strconv.Atoi(from)
	most, err2 := strconv.Atoi(to)
	return err1 == nil && err2 == nil && most < least
}

// CheckPrefix fails with [ErrOptions] if Elasticsearch does not accept prefix at the beginning of index names.
func CheckPrefix(prefix string) error {
	if len(prefix) > 64 || !prefixes().MatchString(prefix) {
		return fmt.Errorf("prefix %q: only a-z, 0-9, dots, dashes and underscores, at most 64, the first a letter or digit: %w", prefix, ErrOptions)
	}
	return nil
}

// check sets defaults. It fails for options that no cluster accepts.
func (opt *Options) check() error {
	if opt.Prefix == "" {
		opt.Prefix = mapping.DefaultPrefix
	}
	if opt.Shards == 0 {
		opt.Shards = 1
	}
	if opt.Replicas == "" {
		opt.Replicas = "0-1"
	}
	if err := CheckPrefix(opt.Prefix); err != nil {
		return err
	}
	switch {
	case opt.Shards < 0 || opt.Shards > 1024:
		return fmt.Errorf("%d shards: 1 to 1024 are possible: %w", opt.Shards, ErrOptions)
	case !replicas().MatchString(opt.Replicas) || isBackwards(opt.Replicas):
		return fmt.Errorf("replicas %q: a number, or a range such as 0-1: %w", opt.Replicas, ErrOptions)
	case opt.KeepDays < 0 || opt.KeepDays > 36500:
		return fmt.Errorf("keep documents %d days: 1 to 36500, or 0 for ever: %w", opt.KeepDays, ErrOptions)
	case opt.KeepDays > 0 && opt.Policy != "" && opt.policy() != opt.Prefix+"-latency":
		return fmt.Errorf("keep documents %d days with lifecycle policy %q, which is not ours to change: %w", opt.KeepDays, opt.Policy, ErrOptions)
	}
	return nil
}
