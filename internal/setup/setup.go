// Package setup installs the templates of package mapping/templates in an Elasticsearch cluster. It compares what
// the cluster has with what it should have, prints the differences as a [Plan], and applies the plan. A second setup
// has nothing to do.
//
// Objects are compared by the version and the hash in their _meta ([templates.Meta]). So what people changed by hand
// stays, until the options or the version of the templates change.
//
// Setup does not overwrite the work of others. It refuses to change an object with one of its names that fio2es does
// not manage ([ErrForeign]), or that a newer fio2es installed ([ErrNewer]). Then it sends nothing at all. Existing
// indices get the fields of the templates. An index with a field of another type is reported ([ErrConflict]), and
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
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
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
	Err    error  // of a refusal: ErrNewer or ErrForeign

	Body templates.Tree // of the request
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

// compare sets the action for an object that is there. want is ours.
func (s *Step) compare(want templates.Tree, have templates.Meta) {
	switch {
	case have.Version > templates.Version:
		s.refuse(ErrNewer, "the cluster has version %d, this fio2es has %d; use the newer program", have.Version, templates.Version)
	case have.Version < templates.Version:
		s.Action, s.Reason = Update, fmt.Sprintf("from version %d to %d", have.Version, templates.Version)
	case have.Hash != want.At("_meta")["hash"]:
		s.Action, s.Reason = Update, "it was made with other settings"
	default:
		s.Action = Keep
	}
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
func (p *Plan) Err() error {
	var errs []error
	for _, s := range p.Steps {
		if s.Action == Refuse {
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
// index has the fields of their controls: so no lifecycle deletes the empty one.
func firstIndices(prefix string) []Step {
	forEver := templates.Tree{"settings": map[string]any{"index.lifecycle.name": nil}}
	return []Step{
		{Action: Create, Kind: Index, Name: prefix + "-latency." + mapping.Cluster.String() + "-empty", Body: forEver},
		{Action: Create, Kind: Index, Name: mapping.RunsIndex(prefix), Body: templates.Tree{}},
	}
}

// owned is what matters of an object in an answer.
type owned struct {
	Meta templates.Meta `json:"_meta"`

	// of index templates
	Patterns []string `json:"index_patterns"`
	Priority int64    `json:"priority"` // 0 if it has none
}

// Prepare reads what the cluster has, and returns the plan for it. It changes nothing. It fails with
// templates.ErrOptions or an [es.Error]. Refusals are not errors of Prepare, but of [Plan.Apply]: see [Plan.Err].
func Prepare(ctx context.Context, cl *es.Client, opt Options) (*Plan, error) {
	p, err := objects(opt)
	if err != nil {
		return nil, err
	}
	// all index templates, because templates of others may match the same indices
	var all struct {
		Templates []struct {
			Name     string
			Template owned `json:"index_template"`
		} `json:"index_templates"`
	}
	if err := p.read(ctx, cl, esapi.IndicesGetIndexTemplateRequest{}, &all); err != nil {
		return nil, fmt.Errorf("read index templates: %w", err)
	}
	others := map[string]owned{}
	for _, t := range all.Templates {
		others[t.Name] = t.Template
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		want := s.Body
		have, isThere := others[s.Name]
		switch s.Kind {
		case templates.Index:
			delete(others, s.Name)
		case templates.Policy:
			want = s.Body.At("policy")
			var answer map[string]struct{ Policy owned }
			err = p.read(ctx, cl, esapi.ILMGetLifecycleRequest{Policy: s.Name}, &answer)
			have, isThere = answer[s.Name].Policy, len(answer) > 0
		case templates.Component:
			var answer struct {
				Templates []struct {
					Template owned `json:"component_template"`
				} `json:"component_templates"`
			}
			err = p.read(ctx, cl, esapi.ClusterGetComponentTemplateRequest{Name: []string{s.Name}}, &answer)
			if isThere = len(answer.Templates) > 0; isThere {
				have = answer.Templates[0].Template
			}
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", s.Kind, err)
		case isThere && have.Meta.ManagedBy != templates.ManagedBy:
			_, path, _ := es.Line(s.request()) // cannot fail: our names need no escapes
			s.refuse(ErrForeign, "the cluster has one with this name; choose another prefix, or remove it (DELETE %s)", path)
		case isThere:
			s.compare(want, have.Meta)
		}
	}
	p.Steps = append(rivals(p.prefix, others), p.Steps...)
	if err := p.addIndices(ctx, cl); err != nil {
		return nil, fmt.Errorf("read indices: %w", err)
	}
	return p, nil
}

// rivals returns refusals because of index templates of others that match our indices. If they have the same priority, the
// cluster would refuse our templates. If theirs is higher, it would use their templates without an error, and
// histograms would become arrays of numbers.
func rivals(prefix string, others map[string]owned) (found []Step) {
	for _, name := range slices.Sorted(maps.Keys(others)) {
		theirs, s := others[name], Step{Kind: templates.Index, Name: name}
		for _, f := range templates.Families(prefix) {
			index := strings.Replace(f.Pattern, "*", "2000.01", 1) // the name of one of our indices
			for _, pattern := range theirs.Patterns {
				if theirs.Priority >= templates.Priority && matches(pattern, index) {
					s.refuse(ErrForeign, "it matches %s with priority %d, and %s matches %s with %d; give it a lower priority, or choose another prefix",
						pattern, theirs.Priority, f.Name, f.Pattern, templates.Priority)
				}
			}
		}
		if s.Err != nil {
			found = append(found, s)
		}
	}
	return found
}

// addIndices adds the steps for existing indices, because templates apply only to new ones. If there are no indices,
// it adds the steps that make the first ones.
func (p *Plan) addIndices(ctx context.Context, cl *es.Client) error {
	want := map[string]templates.Tree{} // mappings by component
	for _, s := range p.Steps {
		if s.Kind == templates.Component {
			want[s.Name] = s.Body.At("template", "mappings")
		}
	}
	yes := true
	for _, f := range templates.Families(p.prefix) {
		// A request for each family, because the index behind an alias has another name.
		var answer map[string]struct{ Mappings owned }
		if err := p.read(ctx, cl, esapi.IndicesGetMappingRequest{Index: []string{f.Pattern}, IgnoreUnavailable: &yes, AllowNoIndices: &yes}, &answer); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(answer)) {
			s, have := Step{Kind: Index, Name: name, Body: want[f.Mappings]}, answer[name].Mappings.Meta
			switch isOurs := have.ManagedBy == templates.ManagedBy; {
			case isOurs && have.Version > templates.Version: // it has all fields
				continue
			case isOurs:
				s.compare(s.Body, have)
			case matches(f.Pattern, name):
				s.Action, s.Reason = Update, "it was made without the templates"
			default:
				s.refuse(ErrForeign, "it is not of fio2es, but an alias of the form %s stands for it: remove the alias, or choose another prefix", f.Pattern)
			}
			if s.Action != Keep {
				p.Steps = append(p.Steps, s)
			}
		}
		for _, s := range firstIndices(p.prefix) {
			if len(answer) == 0 && matches(f.Pattern, s.Name) {
				p.Steps = append(p.Steps, s)
			}
		}
	}
	return nil
}

// matches reports whether the name of an index matches a pattern, in which * is the only wildcard.
func matches(pattern, index string) bool {
	ok, _ := path.Match(pattern, index)
	return ok
}

// Apply sends the plan's requests in order, to the cluster that the plan was made for. If the plan refuses an
// object, Apply sends nothing and returns [Plan.Err]. It stops at the first request that fails ([es.Error]); a new plan
// continues there. If indices cannot get the fields, Apply does everything else first and then fails ([ErrConflict]).
func (p *Plan) Apply(ctx context.Context, cl *es.Client) error {
	if err := p.Err(); err != nil {
		return fmt.Errorf("set up Elasticsearch: nothing was changed: %w", err)
	}
	done, conflicts := 0, []error(nil)
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
		case e != nil && s.Kind == Index && e.Status == http.StatusBadRequest:
			conflicts = append(conflicts, fmt.Errorf("%s: %w: %w; it was made without the templates: delete it (DELETE /%[1]s) and ingest its runs again, or reindex it", s.Name, ErrConflict, err))
			continue
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
	if len(conflicts) > 0 {
		return fmt.Errorf("everything else is set up: %w", errors.Join(conflicts...))
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
	advice := ""
	switch {
	case e.IsDiskFull(): // it says itself what to do
	case es.Temporary(e):
		advice = ": try again later"
	case e.Status == http.StatusForbidden && e.Type == es.BlockType:
		advice = ": the cluster or index is read-only: see its disk watermarks and index.blocks settings"
	case e.Status == http.StatusForbidden:
		advice = ": docs/elasticsearch.md has a role for setup"
	}
	return fmt.Errorf("%s %s: %w%s", e.Method, e.Path, err, advice)
}
