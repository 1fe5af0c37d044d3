package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"

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

func (s Step) isChange() bool { return s.Action == Create || s.Action == Update }

// Err returns all refusals of the plan, or nil.
func (p *Plan) Err() error { return p.refusals(func(Step) bool { return true }) }

func (p *Plan) refusals(which func(Step) bool) error {
	var errs []error
	for _, s := range p.Steps {
		if s.Action == Refuse && which(s) {
			errs = append(errs, fmt.Errorf("%s %s: %s: %w", s.Kind, s.Name, s.Reason, s.Err))
		}
	}
	return errors.Join(errs...)
}

// Offline returns the plan for an empty cluster. It sends no requests.
func Offline(opt Options) (*Plan, error) {
	all, err := templates.All(opt)
	if err != nil {
		return nil, err
	}
	p := &Plan{prefix: cmp.Or(opt.Prefix, mapping.DefaultPrefix)}
	for _, o := range all {
		p.Steps = append(p.Steps, Step{Action: Create, Kind: o.Kind, Name: o.Name, Body: o.Body})
	}
	p.Steps = append(p.Steps, firstIndices(p.prefix)...)
	return p, nil
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

// Prepare reads what the cluster has, and returns the plan for it. It changes nothing. It fails with
// templates.ErrOptions or an [es.Error]. Refusals are not errors of Prepare, but of [Plan.Apply]: see [Plan.Err].
func Prepare(ctx context.Context, cl *es.Client, opt Options) (*Plan, error) {
	p, err := Offline(opt)
	if err != nil {
		return nil, err
	}
	p.Steps = p.Steps[:len(p.Steps)-len(firstIndices(p.prefix))] // c.indices adds them if they are missing
	c := client{cl, p.prefix}
	there, err := c.indexTemplates(ctx)
	if err != nil {
		return nil, fmt.Errorf("read index templates: %w", err)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		have := there[s.Name]
		if s.Kind != templates.Index {
			if have, err = c.object(ctx, s.Kind, s.Name); err != nil {
				return nil, fmt.Errorf("read %s: %w", s.Kind, err)
			}
		}
		if have != nil {
			s.decide(have)
		}
	}
	p.Steps = append(rivals(p.Steps, there), p.Steps...)
	indices, err := c.indices(ctx, p.Steps)
	if err != nil {
		return nil, fmt.Errorf("read indices: %w", err)
	}
	p.Steps = append(p.Steps, indices...)
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
		if diffs := differences(canonical(s.Kind, want), canonical(s.Kind, have)); len(diffs) > 0 {
			s.Action, s.Reason = Update, list(diffs)
		}
	}
}

func (s *Step) refuse(err error, format string, args ...any) {
	s.Action, s.Err, s.Reason = Refuse, err, fmt.Sprintf(format, args...)
}

// list joins the first three lines.
func list(lines []string) string { return unit.List(lines, 3, "; ") }
