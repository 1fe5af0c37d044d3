package setup_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/setup"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// The versions of this program's templates, and of those that a newer program would install.
var (
	thisVersion  = strconv.Itoa(templates.Version)
	newerVersion = strconv.Itoa(templates.Version + 1)
)

func prepare(t *testing.T, f *fake, opt setup.Options) *setup.Plan {
	t.Helper()
	p, err := setup.Prepare(context.Background(), f.client(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// installed returns a fake after setup.
func installed(t *testing.T, opt setup.Options) *fake {
	t.Helper()
	f := newFake(t)
	if err := prepare(t, f, opt).Apply(context.Background(), f.client()); err != nil {
		t.Fatal(err)
	}
	f.writes = nil
	return f
}

// lines returns the steps of a plan, except those that keep an object.
func lines(p *setup.Plan) []string {
	var all []string
	for _, s := range p.Steps {
		if s.Action != setup.Keep {
			all = append(all, s.String())
		}
	}
	return all
}

func TestInstallOnce(t *testing.T) {
	for _, opt := range []setup.Options{
		{}, {Prefix: "lab", Shards: 3, Replicas: "2", KeepDays: 30, CompressedDocValues: true}, {Policy: templates.NoPolicy}, {Policy: "own"},
	} {
		f := newFake(t)
		p := prepare(t, f, opt)
		if err := p.Apply(context.Background(), f.client()); err != nil {
			t.Fatal(err)
		}
		if len(f.writes) != p.Changes() || p.Changes() != len(p.Steps) || p.Changes() < 8 {
			t.Errorf("%+v: %d writes of %d steps, %d changes", opt, len(f.writes), len(p.Steps), p.Changes())
		}
		if runs := mapping.RunsIndex(cmp.Or(opt.Prefix, mapping.DefaultPrefix)); f.indices[runs] == nil {
			t.Errorf("%+v: no index %s", opt, runs)
		}
		again := prepare(t, f, opt)
		if got := lines(again); got != nil || again.Changes() != 0 || again.Err() != nil {
			t.Errorf("%+v: once more: %q", opt, got)
		}
		f.writes = nil
		if err := again.Apply(context.Background(), f.client()); err != nil || f.writes != nil {
			t.Errorf("%+v: once more: wrote %q, %v", opt, f.writes, err)
		}
	}
}

func TestPrepareWritesNothing(t *testing.T) {
	f := newFake(t)
	prepare(t, f, setup.Options{})
	if f.writes != nil {
		t.Errorf("wrote %q", f.writes)
	}
}

// TestChanges: a cluster was set up and then changed.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fake)
		opt    setup.Options
		want   []string // the beginnings of lines
		err    error
	}{
		{"older component", func(f *fake) {
			f.components["fio-latency-mappings"]["_meta"].(tree)["version"] = 0
		}, setup.Options{}, []string{"update component template fio-latency-mappings: from version 0 to " + thisVersion}, nil},
		{"an older version, without roles of files", func(f *fake) {
			f.components["fio-runs-mappings"]["_meta"].(tree)["version"], f.indices["fio-runs"]["_meta"].(tree)["version"] = 0, 0
			delete(f.indices["fio-runs"]["properties"].(tree)["source"].(tree)["properties"].(tree)["list"].(tree)["properties"].(tree), "role")
		}, setup.Options{}, []string{
			"update component template fio-runs-mappings: from version 0 to " + thisVersion, "update index fio-runs: from version 0 to " + thisVersion,
		}, nil},
		{"older policy", func(f *fake) {
			delete(f.policies["fio-latency"]["policy"].(tree)["_meta"].(tree), "version")
		}, setup.Options{}, []string{"update lifecycle policy fio-latency: from version 0 to " + thisVersion}, nil},
		{"other options", nil, setup.Options{Shards: 3, KeepDays: 60}, []string{
			"update lifecycle policy fio-latency: it was made with other settings",
			"update component template fio-latency-settings: it was made with other settings",
			"update index template fio-latency-cluster: it was made with other settings", "update index template fio-latency-host: it was made with other settings",
			"update index template fio-latency-job: it was made with other settings", "update index template fio-latency-section: it was made with other settings",
		}, nil},
		{"fixed replicas", nil, setup.Options{Replicas: "1"}, []string{
			"update component template fio-latency-settings", "update component template fio-runs-settings",
		}, nil},
		{"changed by hand", func(f *fake) { f.templates["fio-runs"]["priority"] = 700 }, setup.Options{}, nil, nil},
		{"_meta of another form", func(f *fake) {
			f.templates["other"] = tree{"_meta": tree{"managed_by": 1, "version": "7.x", "hash": tree{}}}
		},
			setup.Options{}, nil, nil},
		{"removed", func(f *fake) { delete(f.templates, "fio-latency-job") }, setup.Options{}, []string{"create index template fio-latency-job"}, nil},
		{"newer", func(f *fake) { f.templates["fio-runs"]["_meta"].(tree)["version"] = 99 }, setup.Options{},
			[]string{"refuse index template fio-runs: the cluster has version 99, this fio2es has " + thisVersion}, setup.ErrNewer},
		{"newer policy", func(f *fake) {
			f.policies["fio-latency"]["policy"].(tree)["_meta"].(tree)["version"] = templates.Version + 1
		}, setup.Options{},
			[]string{"refuse lifecycle policy fio-latency: the cluster has version " + newerVersion + ""}, setup.ErrNewer},
		{"foreign component", func(f *fake) { f.components["fio-runs-mappings"] = tree{"template": tree{}, "version": 3} }, setup.Options{},
			[]string{"refuse component template fio-runs-mappings: the cluster has one with this name"}, setup.ErrForeign},
		{"foreign policy", func(f *fake) {
			f.policies["fio-latency"] = tree{"version": 4, "policy": tree{"phases": tree{}, "_meta": tree{"managed_by": "somebody"}}}
		}, setup.Options{}, []string{"refuse lifecycle policy fio-latency: the cluster has one with this name"}, setup.ErrForeign},
		{"rival", func(f *fake) {
			f.templates["all"] = tree{"index_patterns": []any{"logs-*", "fio*"}, "priority": 900}
		}, setup.Options{}, []string{"refuse index template all: it matches fio* with priority 900, and fio-runs matches fio-runs with 500"}, setup.ErrForeign},
		{"template of lower priority", func(f *fake) {
			f.templates["all"], f.templates["none"] = tree{"index_patterns": []any{"*"}, "priority": 499}, tree{"index_patterns": []any{"*"}}
		}, setup.Options{}, nil, nil},
		{"template of others' indices", func(f *fake) {
			f.templates["all"] = tree{"index_patterns": []any{"fio-latency.node-*", "radio-runs"}, "priority": 900}
		}, setup.Options{}, nil, nil},
		{"another prefix", nil, setup.Options{Prefix: "lab"}, []string{
			"create lifecycle policy lab-latency", "create component template lab-latency-mappings", "create component template lab-latency-settings",
			"create component template lab-runs-mappings", "create component template lab-runs-settings", "create index template lab-latency-cluster",
			"create index template lab-latency-host", "create index template lab-latency-job", "create index template lab-latency-section",
			"create index template lab-runs",
			"create index lab-latency.cluster-empty", "create index lab-runs",
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := installed(t, setup.Options{})
			if c.change != nil {
				c.change(f)
			}
			p := prepare(t, f, c.opt)
			got := lines(p)
			if len(got) != len(c.want) {
				t.Fatalf("%d lines instead of %d: %q", len(got), len(c.want), got)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("%q\ninstead of %q", got[i], c.want[i])
				}
			}
			if err := p.Err(); !errors.Is(err, c.err) {
				t.Errorf("plan fails with %v", err)
			}
			err := p.Apply(context.Background(), f.client())
			if !errors.Is(err, c.err) {
				t.Fatalf("applied: %v instead of %v", err, c.err)
			}
			if c.err != nil {
				if f.writes != nil {
					t.Errorf("wrote %q all the same", f.writes)
				}
				return
			}
			if rest := lines(prepare(t, f, c.opt)); rest != nil {
				t.Errorf("left: %q", rest)
			}
		})
	}
}

// TestOldIndices: existing indices get the fields that templates have got since.
func TestOldIndices(t *testing.T) {
	const index = "fio-latency.host-2025.01"
	for _, c := range []struct {
		name   string
		change func(mapping tree) tree
		want   string // beginning of the line
		err    error
	}{
		{"same", func(m tree) tree { return m }, "", nil},
		{"labels were used", func(m tree) tree {
			field(m, "run")["labels"] = tree{"dynamic": "true", "subobjects": false, "properties": tree{"osd": tree{"type": "keyword"}}}
			return m
		}, "", nil},
		{"fields lack", func(m tree) tree {
			delete(field(m, "latency"), "p99_99")
			delete(m["properties"].(tree), "requests")
			m["_meta"].(tree)["version"] = 0
			return m
		}, "update index " + index + ": from version 0 to " + thisVersion, nil},
		{"other fields of the same version", func(m tree) tree {
			delete(m["properties"].(tree), "requests")
			m["_meta"].(tree)["hash"] = "0"
			return m
		}, "update index " + index + ": it was made with other settings", nil},
		{"newer", func(m tree) tree {
			m["_meta"].(tree)["version"] = 99
			delete(m["properties"].(tree), "requests")
			return m
		}, "", nil},
		{"made without template, and fits", func(m tree) tree { return tree{"properties": tree{"iops": tree{"type": "double"}}} },
			"update index " + index + ": it was made without the templates", nil},
		{"made without template", func(tree) tree {
			long := tree{"type": "long"}
			return tree{"properties": tree{"latency": tree{"properties": tree{"histogram": tree{"properties": tree{"values": long, "counts": long}}}}}}
		}, "update index " + index + ": it was made without the templates", setup.ErrConflict},
		{"text in place of keyword", func(m tree) tree {
			field(m, "host")["name"] = tree{"type": "text"}
			delete(m, "_meta")
			return m
		}, "update index " + index, setup.ErrConflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := installed(t, setup.Options{})
			f.makeIndex("fio-latency.cluster-2025.01")
			f.makeIndex(index)
			f.indices[index] = c.change(f.indices[index])
			delete(f.templates, "fio-runs") // so that there is also another step
			p := prepare(t, f, setup.Options{})
			got := lines(p)[1:]
			if !strings.HasPrefix(strings.Join(got, "; "), c.want) || (c.want == "") != (len(got) == 0) {
				t.Fatalf("%q instead of %q", got, c.want)
			}
			err := p.Apply(context.Background(), f.client())
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), "DELETE /"+index) {
				t.Fatalf("applied: %v", err)
			}
			if c.want != "" && c.err == nil && (f.indices[index]["properties"].(tree)["requests"] == nil || f.indices[index]["dynamic"] != "strict") {
				t.Errorf("fields are missing: %v", f.indices[index])
			}
			if f.templates["fio-runs"] == nil {
				t.Error("the other steps were not done")
			}
			if rest := lines(prepare(t, f, setup.Options{})); c.err == nil && rest != nil {
				t.Errorf("left: %q", rest)
			}
		})
	}
}

// TestAliasOfAnother: an index of another program, for which an alias of our form stands, is refused, and the advice is
// not to delete it.
func TestAliasOfAnother(t *testing.T) {
	f := installed(t, setup.Options{})
	f.fault = func(_, path string) (int, string) {
		if strings.HasSuffix(path, "/_mapping") && strings.Contains(path, "latency.host") {
			return 200, `{"orders": {"mappings": {"properties": {"latency": {"type": "long"}}}}}`
		}
		return 0, ""
	}
	want := "refuse index orders: it is not of fio2es, but an alias of the form fio-latency.host-* stands for it: remove the alias"
	if got := strings.Join(lines(prepare(t, f, setup.Options{})), "; "); !strings.HasPrefix(got, want) || strings.Contains(got, "DELETE") {
		t.Errorf("%q instead of %q", got, want)
	}
}

// field returns the properties of an object field.
func field(m tree, name string) tree { return m["properties"].(tree)[name].(tree)["properties"].(tree) }

// TestAlias: the index behind an alias has another name, and gets missing fields, too.
func TestAlias(t *testing.T) {
	f := installed(t, setup.Options{})
	old := f.indices["fio-runs"]
	delete(f.indices, "fio-runs")
	old["_meta"].(tree)["version"] = 0
	f.indices["runs-2"], f.aliases["fio-runs"] = old, "runs-2"
	if got := lines(prepare(t, f, setup.Options{})); len(got) != 1 || got[0] != "update index runs-2: from version 0 to "+thisVersion {
		t.Errorf("plan: %q", got)
	}
}

func TestFaults(t *testing.T) {
	const forbidden = `{"error":{"root_cause":[],"type":"security_exception","reason":"action [x] is unauthorized"},"status":403}`
	for _, c := range []struct {
		name         string
		method, path string // beginning of the path
		status       int
		answer       string
		want         []string // parts of the error
	}{
		{"who", "GET", "/_index_template", 401, `{"error":{"type":"security_exception","reason":"missing authentication credentials"}}`, []string{"status 401 security_exception: missing authentication", "API key"}},
		{"policy", "PUT", "/_ilm", 403, forbidden, []string{"PUT /_ilm/policy/fio-latency: credentials do not allow it: status 403 security_exception: action [x]", "has a role for setup", "0 of 12 requests done"}},
		{"template", "PUT", "/_index_template/fio-runs", 403, forbidden, []string{"action [x]", "9 of 12 requests done"}},
		{"index of runs", "PUT", "/fio-runs", 403, forbidden, []string{"create index fio-runs (11 of 12 requests done", "has a role for setup"}},
		{"reading mappings", "GET", "/fio-", 403, forbidden, []string{"read indices: GET /fio-", "has a role for setup"}},
		{"read-only", "PUT", "/_component", 403, `{"error":{"type":"cluster_block_exception","reason":"index [x] blocked"}}`, []string{"read-only", "watermark"}},
		{"disk full", "PUT", "/_component", 429, `{"error":{"type":"cluster_block_exception","reason":"index [x] blocked"}}`, []string{"flood-stage watermark", "free disk space"}},
		{"busy", "PUT", "/_component", 503, ``, []string{"503 service unavailable", "try again"}},
		{"not acknowledged", "PUT", "/_component", 200, `{"acknowledged":false}`, []string{"not all nodes confirmed", "1 of 12 requests done"}},
		{"no JSON", "GET", "/_ilm", 200, `<html>`, []string{"answer is not the expected JSON"}},
		{"proxy", "PUT", "/_ilm", 502, `<html>bad gateway</html>`, []string{"502 bad gateway: a page without a title: try again later"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			f.fault = func(method, path string) (int, string) {
				if method == c.method && strings.HasPrefix(path, c.path) {
					return c.status, c.answer
				}
				return 0, ""
			}
			p, err := setup.Prepare(context.Background(), f.client(), setup.Options{})
			if err == nil {
				err = p.Apply(context.Background(), f.client())
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			var e *es.Error
			if errors.As(err, &e) != (c.name != "no JSON") || e != nil && e.Status != c.status {
				t.Errorf("error is %+v", e)
			}
			f.fault = nil // after the fault has ended
			if err := prepare(t, f, setup.Options{}).Apply(context.Background(), f.client()); err != nil {
				t.Error(err)
			}
			if rest := lines(prepare(t, f, setup.Options{})); rest != nil {
				t.Errorf("left: %q", rest)
			}
		})
	}
}

// TestTwoSetups: another setup makes the index after this one has looked.
func TestTwoSetups(t *testing.T) {
	f := newFake(t)
	p := prepare(t, f, setup.Options{})
	if err := prepare(t, f, setup.Options{}).Apply(context.Background(), f.client()); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(context.Background(), f.client()); err != nil {
		t.Error(err)
	}
}

// TestForbiddenMapping: only upgrades need this privilege.
func TestForbiddenMapping(t *testing.T) {
	f := installed(t, setup.Options{})
	f.indices["fio-runs"]["_meta"].(tree)["version"] = 0
	f.fault = func(method, path string) (int, string) {
		if method == "PUT" && strings.HasSuffix(path, "/_mapping") {
			return 403, `{"error":{"type":"security_exception","reason":"no"}}`
		}
		return 0, ""
	}
	err := prepare(t, f, setup.Options{}).Apply(context.Background(), f.client())
	if !errors.Is(err, es.ErrForbidden) || !strings.Contains(err.Error(), "PUT /fio-runs/_mapping") {
		t.Errorf("error is %v", err)
	}
}

// broken returns a client without a server.
func broken(t *testing.T, lost error) *es.Client {
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, lost }
	client, err := es.New(es.Config{Dial: dial, GiveUpAfter: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestNoConnection(t *testing.T) {
	lost := errors.New("connection refused")
	if _, err := setup.Prepare(context.Background(), broken(t, lost), setup.Options{}); !errors.Is(err, lost) {
		t.Errorf("prepare: %v", err)
	}
	p, err := setup.Offline(setup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(context.Background(), broken(t, lost)); !errors.Is(err, lost) {
		t.Errorf("apply: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := setup.Prepare(ctx, newFake(t).client(), setup.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("prepare after the end: %v", err)
	}
}

func TestInvalidOptions(t *testing.T) {
	if _, err := setup.Prepare(context.Background(), broken(t, nil), setup.Options{Prefix: "A"}); !errors.Is(err, templates.ErrOptions) {
		t.Errorf("error is %v", err)
	}
}

func TestPrint(t *testing.T) {
	all, err := setup.Offline(setup.Options{KeepDays: 90})
	if err != nil {
		t.Fatal(err)
	}
	f := installed(t, setup.Options{})
	delete(f.templates, "fio-latency-job")
	f.templates["fio-runs"]["_meta"].(tree)["version"] = 99
	f.policies["fio-latency"]["policy"].(tree)["_meta"].(tree)["version"] = 0
	for name, p := range map[string]*setup.Plan{"print": all, "dry-run": prepare(t, f, setup.Options{})} {
		var got bytes.Buffer
		if err := p.Print(&got); err != nil {
			t.Fatal(err)
		}
		file := fmt.Sprintf("testdata/%s.console", name)
		golden.File(t, file, got.String())
	}
}

// TestOtherServer: after an upgrade of the cluster, setup uses what the new version can do.
func TestOtherServer(t *testing.T) {
	for version, want := range map[string]bool{"8.19.22": false, "9.2.4": false, "9.3.0": true, "10.0.0-SNAPSHOT": true, "": false} {
		if got := setup.HasCompressedDocValues(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
	f := installed(t, setup.Options{})
	got := lines(prepare(t, f, setup.Options{CompressedDocValues: true}))
	if len(got) != 1 || !strings.HasPrefix(got[0], "update component template fio-latency-settings") {
		t.Errorf("%q", got)
	}
}
