package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// Why a plan cannot be carried out, or not wholly.
var (
	ErrNewer    = errors.New("installed by a newer fio2es")
	ErrForeign  = errors.New("not managed by fio2es")
	ErrConflict = errors.New("fields of another type than they must have")
)

// Options are those of the templates.
type Options = templates.Options

// Action is what is to be done with an object.
type Action string

// The actions. Only Create and Update send a request.
const (
	Create Action = "create"
	Update Action = "update"
	Keep   Action = "keep"
	Refuse Action = "refuse"
)

// Index is the kind of a step that adds fields to an index that exists, or makes that of
// the runs; the other kinds are those of package templates.
const Index templates.Kind = "index"

// Step is one object, and what is to be done with it.
type Step struct {
	Action Action
	Kind   templates.Kind
	Name   string
	Reason string // of an update or a refusal, in words
	Err    error  // of a refusal: ErrNewer, ErrForeign or ErrConflict

	Body json.RawMessage // of the request
}

// String is one line, such as "update index template fio-runs: version 1 is there, 2 comes".
func (s Step) String() string {
	line := fmt.Sprintf("%s %s %s", s.Action, s.Kind, s.Name)
	if s.Reason != "" {
		line += ": " + s.Reason
	}
	return line
}

// Plan is what there is to do, in order.
type Plan struct {
	Steps  []Step
	prefix string
}

// Changes is how many requests the plan sends.
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

// Err is all refusals of the plan, or nil.
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

// Offline is the plan for a cluster where nothing is yet. It asks no cluster: it is for
// showing what setup would send.
func Offline(opt Options) (*Plan, error) {
	all, err := templates.All(opt)
	if err != nil {
		return nil, err
	}
	p := &Plan{prefix: cmp.Or(opt.Prefix, mapping.DefaultPrefix)}
	for _, o := range all {
		p.Steps = append(p.Steps, newStep(o))
	}
	p.Steps = append(p.Steps, firstIndices(p.prefix)...)
	return p, nil
}

func newStep(o templates.Object) Step {
	return Step{Action: Create, Kind: o.Kind, Name: o.Name, Body: o.Body}
}

// request is the one that carries a step out.
func (s *Step) request() esapi.Request {
	body := es.JSON([]byte(s.Body))
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

// Prepare reads what the cluster has and says what is to be done. It changes nothing. It
// fails with templates.ErrOptions, or an [es.Error] when the cluster does not answer well;
// refusals are no failure of it, but of [Plan.Apply]; see [Plan.Err].
func Prepare(ctx context.Context, cl *es.Client, opt Options) (*Plan, error) {
	p, err := Offline(opt)
	if err != nil {
		return nil, err
	}
	p.Steps = p.Steps[:len(p.Steps)-len(firstIndices(p.prefix))] // c.indices looks which are missing
	c := client{cl, p.prefix}
	there, err := c.indexTemplates(ctx)
	if err != nil {
		return nil, fmt.Errorf("read index templates: %w", err)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		have, ok := there[s.Name]
		if s.Kind != templates.Index {
			if have, ok, err = c.object(ctx, s.Kind, s.Name); err != nil {
				return nil, fmt.Errorf("read %s: %w", s.Kind, err)
			}
		}
		if ok {
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

// decide says what becomes of an object that is there.
func (s *Step) decide(have object) {
	want := wanted(*s)
	by, version := owner(have)
	_, ours := owner(want)
	switch {
	case by != templates.ManagedBy:
		_, path, _ := es.Line(s.request()) // names of ours can stand in it
		s.refuse(ErrForeign, "one of this name is there; choose another prefix, or remove it (DELETE %s)", path)
	case version > ours:
		s.refuse(ErrNewer, "version %d is there, this fio2es has %d; use the newer program", version, ours)
	case version < ours:
		s.Action, s.Reason = Update, fmt.Sprintf("version %d is there, %d comes", version, ours)
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

// wanted is the object of a step, without what only its request needs.
func wanted(s Step) object {
	o := decode(s.Body)
	if s.Kind == templates.Policy {
		o = o.at("policy")
	}
	return o
}

// list is some lines as one.
func list(lines []string) string {
	const most = 3
	if len(lines) > most {
		return fmt.Sprintf("%s; and %d more", strings.Join(lines[:most], "; "), len(lines)-most)
	}
	return strings.Join(lines, "; ")
}
