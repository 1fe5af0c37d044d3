// Package setup installs the templates of package mapping/templates in an Elasticsearch cluster. It compares what
// the cluster has with what it should have, prints the differences as a [Plan], and applies the plan. A second setup
// has nothing to do.
//
// Setup does not overwrite the work of others. It refuses to change an object with one of its names that fio2es does
// not manage ([ErrForeign]), or that a newer fio2es installed ([ErrNewer]). Then it sends nothing at all. Existing
// indices get the fields that they lack. An index with a field of another type is reported ([ErrConflict]), and
// everything else is installed.
package setup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// Reasons why a plan cannot be applied, or only in part.
var (
	ErrNewer    = errors.New("installed by a newer fio2es")
	ErrForeign  = errors.New("not managed by fio2es")
	ErrConflict = errors.New("fields with another type than in the templates")
)

// Options are the options of the templates.
type Options = templates.Options

// HasCompressedDocValues reports whether a version of Elasticsearch, such as "9.5.0", supports
// [Options].CompressedDocValues.
func HasCompressedDocValues(version string) bool {
	isOld, err := es.IsBefore(version, 9, 3)
	return err == nil && !isOld
}

// Action is what setup does with an object.
type Action string

// The actions. Only Create and Update send a request.
const (
	Create Action = "create"
	Update Action = "update"
	Keep   Action = "keep"
	Refuse Action = "refuse"
)

// Index is the kind of a step that adds fields to an existing index, or makes one of the first indices. The other
// kinds are those of package templates.
const Index templates.Kind = "index"

// object is a JSON object, from our templates or from an answer of a cluster.
type object = templates.Tree

// Step is an object and the action for it.
type Step struct {
	Action Action
	Kind   templates.Kind
	Name   string
	Reason string // of an update or a refusal, for people
	Err    error  // of a refusal: ErrNewer, ErrForeign or ErrConflict

	Body object // of the request
}

// String returns the step on one line, such as "update index template fio-runs: from version 1 to 2".
func (s Step) String() string {
	line := fmt.Sprintf("%s %s %s", s.Action, s.Kind, s.Name)
	if s.Reason != "" {
		line += ": " + s.Reason
	}
	return line
}

func (s Step) isChange() bool { return s.Action == Create || s.Action == Update }

func (s *Step) refuse(err error, format string, args ...any) {
	s.Action, s.Err, s.Reason = Refuse, err, fmt.Sprintf(format, args...)
}

// request returns the request of a step.
func (s *Step) request() esapi.Request {
	body := es.JSON(s.Body.JSON())
	switch {
	case s.Kind == templates.Policy:
		return esapi.ILMPutLifecycleRequest{Policy: s.Name, Body: body}
	case s.Kind == templates.Component:
		return esapi.ClusterPutComponentTemplateRequest{Name: s.Name, Body: body}
	case s.Kind == templates.Index:
		return esapi.IndicesPutIndexTemplateRequest{Name: s.Name, Body: body}
	case s.Action == Create:
		return esapi.IndicesCreateRequest{Index: s.Name, Body: body}
	}
	return esapi.IndicesPutMappingRequest{Index: []string{s.Name}, Body: body}
}

// Plan has all steps in order.
type Plan struct {
	Steps  []Step
	prefix string
}

// Changes returns how many requests the plan sends.
func (p *Plan) Changes() int {
	n := 0
	for _, s := range p.Steps {
		if s.isChange() {
			n++
		}
	}
	return n
}

// Err returns all refusals of the plan, or nil.
func (p *Plan) Err() error { return errors.Join(p.refusals(false), p.refusals(true)) }

// refusals returns the refusals of existing indices, or all others.
func (p *Plan) refusals(ofIndices bool) error {
	var errs []error
	for _, s := range p.Steps {
		if s.Action == Refuse && (s.Kind == Index) == ofIndices {
			errs = append(errs, fmt.Errorf("%s %s: %s: %w", s.Kind, s.Name, s.Reason, s.Err))
		}
	}
	return errors.Join(errs...)
}

// Offline returns the plan for an empty cluster. It sends no requests.
func Offline(opt Options) (*Plan, error) {
	p, err := objects(opt)
	if err == nil {
		p.Steps = append(p.Steps, firstIndices(p.prefix)...)
	}
	return p, err
}

// objects returns the plan that creates all templates.
func objects(opt Options) (*Plan, error) {
	all, err := templates.All(opt)
	p := &Plan{prefix: cmp.Or(opt.Prefix, mapping.DefaultPrefix)}
	for _, o := range all {
		p.Steps = append(p.Steps, Step{Action: Create, Kind: o.Kind, Name: o.Name, Body: o.Body})
	}
	return p, err
}

// firstIndices returns the steps that make the indices which must exist before the first ingest. Without the index
// of runs, readers would report that the cluster was never set up. Kibana's dashboards would wait forever if no
// index has the fields of their controls.
func firstIndices(prefix string) []Step {
	var steps []Step
	for _, name := range []string{prefix + "-latency." + mapping.Cluster.String() + "-empty", mapping.RunsIndex(prefix)} {
		steps = append(steps, Step{Action: Create, Kind: Index, Name: name, Body: object{}})
	}
	return steps
}

// Prepare reads what the cluster has, and returns the plan for it. It changes nothing. It fails with
// templates.ErrOptions or an [es.Error]. Refusals are not errors of Prepare, but of [Plan.Apply]: see [Plan.Err].
func Prepare(ctx context.Context, cl *es.Client, opt Options) (*Plan, error) {
	p, err := objects(opt)
	if err != nil {
		return nil, err
	}
	// all index templates, because templates of others may match the same indices
	var answer struct {
		Templates []struct {
			Name     string
			Template object `json:"index_template"`
		} `json:"index_templates"`
	}
	if err := p.read(ctx, cl, esapi.IndicesGetIndexTemplateRequest{}, &answer); err != nil {
		return nil, fmt.Errorf("read index templates: %w", err)
	}
	there := map[string]object{}
	for _, t := range answer.Templates {
		there[t.Name] = t.Template
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		have := there[s.Name]
		switch s.Kind {
		case templates.Policy:
			var answer map[string]struct{ Policy object }
			err = p.read(ctx, cl, esapi.ILMGetLifecycleRequest{Policy: s.Name}, &answer)
			have = answer[s.Name].Policy
		case templates.Component:
			var answer struct {
				Templates []struct {
					Name     string
					Template object `json:"component_template"`
				} `json:"component_templates"`
			}
			err = p.read(ctx, cl, esapi.ClusterGetComponentTemplateRequest{Name: []string{s.Name}}, &answer)
			for _, t := range answer.Templates {
				if t.Name == s.Name {
					have = t.Template
				}
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.Kind, err)
		}
		if have != nil {
			s.decide(have)
		}
	}
	p.Steps = append(rivals(p.Steps, there), p.Steps...)
	if err := p.addIndices(ctx, cl); err != nil {
		return nil, fmt.Errorf("read indices: %w", err)
	}
	return p, nil
}

// decide sets the action for an object; have is what the cluster has.
func (s *Step) decide(have object) {
	want := s.Body // as the cluster returns it
	if s.Kind == templates.Policy {
		want = want.At("policy")
	}
	by, version := owner(have)
	_, ours := owner(want)
	switch {
	case by != templates.ManagedBy:
		_, path, _ := es.Line(s.request()) // cannot fail: our names need no escapes
		s.refuse(ErrForeign, "the cluster has one with this name; choose another prefix, or remove it (DELETE %s)", path)
	case version > ours:
		s.refuse(ErrNewer, "the cluster has version %d, this fio2es has %d; use the newer program", version, ours)
	case version < ours:
		s.Action, s.Reason = Update, fmt.Sprintf("from version %d to %d", version, ours)
	default:
		s.Action = Keep
		if diffs := differences(nil, "", canonical(s.Kind, want), canonical(s.Kind, have)); len(diffs) > 0 {
			s.Action, s.Reason = Update, list(diffs)
		}
	}
}

// list joins the first three lines.
func list(lines []string) string { return unit.List(lines, 3, "; ") }

// Apply sends the plan's requests in order, to the cluster that the plan was made for. If the plan refuses an
// object, Apply sends nothing and returns [ErrNewer] or [ErrForeign]. It stops at the first request that fails
// ([es.Error]); a new plan continues there. If indices cannot be updated, Apply does everything else first and then
// fails ([ErrConflict]).
func (p *Plan) Apply(ctx context.Context, cl *es.Client) error {
	if err := p.refusals(false); err != nil {
		return fmt.Errorf("set up Elasticsearch: nothing was changed: %w", err)
	}
	done := 0
	for _, s := range p.Steps {
		if !s.isChange() {
			continue
		}
		var answer struct{ Acknowledged bool }
		err := p.send(ctx, cl, s.request(), &answer)
		e, _ := errors.AsType[*es.Error](err)
		switch {
		case e != nil && s.Kind == Index && s.Action == Create && e.Type == "resource_already_exists_exception":
			err = nil // another setup or ingest has made it in the meantime, from the same templates
		case err == nil && !answer.Acknowledged:
			err = fmt.Errorf("%w: try again later", &es.Error{Status: http.StatusOK, Type: "not_acknowledged",
				Reason: "the cluster accepted the request, but not all nodes confirmed it in time"})
		}
		if err != nil {
			return fmt.Errorf("%s %s %s (%d of %d requests done; another setup continues from there): %w",
				s.Action, s.Kind, s.Name, done, p.Changes(), err)
		}
		done++
	}
	if err := p.refusals(true); err != nil {
		return fmt.Errorf("everything else is set up: %w", err)
	}
	return nil
}

// Print writes the plan for Kibana's console (Dev Tools): its requests, and everything else as comments.
func (p *Plan) Print(w io.Writer) error {
	var b bytes.Buffer
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "# %s\n", s)
		if !s.isChange() {
			continue
		}
		method, path, err := es.Line(s.request())
		if err == nil {
			fmt.Fprintf(&b, "%s %s\n", method, path)
			err = json.Indent(&b, s.Body.JSON(), "", "  ")
		}
		if err != nil {
			return fmt.Errorf("print %s %s: %w", s.Kind, s.Name, err)
		}
		b.WriteString("\n\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// read reads an object. If there is none, it leaves answer empty.
func (p *Plan) read(ctx context.Context, cl *es.Client, request esapi.Request, answer any) error {
	err := p.send(ctx, cl, request, answer)
	if es.IsNotFound(err) {
		return nil
	}
	return err
}

// send sends a request and decodes the answer. It adds to an [*es.Error] the request, and what to do.
func (p *Plan) send(ctx context.Context, cl *es.Client, request esapi.Request, answer any) error {
	err := cl.Do(ctx, request, answer)
	e, ok := errors.AsType[*es.Error](err)
	if !ok {
		return err
	}
	isOfCluster, advice := strings.HasPrefix(e.Path, "/_"), ""
	switch {
	case e.IsDiskFull(): // it says itself what to do
	case es.Temporary(e):
		advice = ": try again later"
	case e.Status == http.StatusForbidden && e.Type == es.BlockType:
		advice = ": the cluster or index is read-only: see its disk watermarks and index.blocks settings"
	case e.Status == http.StatusForbidden:
		needs := fmt.Sprintf("index privilege indices:admin/mapping/put on %s-*", p.prefix)
		switch {
		case strings.HasPrefix(e.Path, "/_ilm/"):
			needs = "cluster privilege manage_ilm"
		case isOfCluster:
			needs = "cluster privilege manage_index_templates"
		case e.Method == http.MethodGet:
			needs = fmt.Sprintf("index privilege view_index_metadata on %s-*", p.prefix)
		case e.Path == "/"+mapping.RunsIndex(p.prefix):
			needs = "index privilege create_index on " + mapping.RunsIndex(p.prefix)
		}
		advice = ": missing: " + needs + "; docs/elasticsearch.md has a role for setup"
	case isOfCluster && (e.Status == http.StatusBadRequest || e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusGone):
		advice = ": fio2es needs Elasticsearch 8.6 or later; without lifecycle policies, set elasticsearch.policy to none"
	}
	return fmt.Errorf("%s %s: %w%s", e.Method, e.Path, err, advice)
}
