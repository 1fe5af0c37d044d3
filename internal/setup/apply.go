package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/fio2es/fio2es/internal/es"
)

// Apply sends the plan's requests in order, to the cluster that the plan was made for. If the plan refuses an
// object, Apply sends nothing and returns [ErrNewer] or [ErrForeign]. It stops at the first request that fails
// ([es.Error]); a new plan continues there. If indices cannot be updated, Apply does everything else first and then
// fails ([ErrConflict]).
func (p *Plan) Apply(ctx context.Context, cl *es.Client) error {
	isIndex := func(s Step) bool { return s.Kind == Index }
	if err := p.refusals(func(s Step) bool { return !isIndex(s) }); err != nil {
		return fmt.Errorf("set up Elasticsearch: nothing was changed: %w", err)
	}
	c, done := client{cl, p.prefix}, 0
	for _, s := range p.Steps {
		if !s.isChange() {
			continue
		}
		if err := c.put(ctx, s); err != nil {
			return fmt.Errorf("%s %s %s (%d of %d requests done; another setup continues from there): %w",
				s.Action, s.Kind, s.Name, done, p.Changes(), err)
		}
		done++
	}
	if err := p.refusals(isIndex); err != nil {
		return fmt.Errorf("everything else is set up: %w", err)
	}
	return nil
}

func (c *client) put(ctx context.Context, s Step) error {
	var answer struct{ Acknowledged bool }
	err := c.do(ctx, s.request(), &answer)
	var e *es.Error
	if s.Kind == Index && s.Action == Create && errors.As(err, &e) && e.Type == "resource_already_exists_exception" {
		return nil // another setup or ingest has made it in the meantime, from the same templates
	}
	if err != nil {
		return err
	}
	if !answer.Acknowledged {
		e := &es.Error{Status: http.StatusOK, Type: "not_acknowledged", Reason: "the cluster accepted the request, but not all nodes confirmed it in time"}
		return fmt.Errorf("%w%s", e, advicePassing)
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
		if err != nil {
			return fmt.Errorf("print %s %s: %w", s.Kind, s.Name, err)
		}
		fmt.Fprintf(&b, "%s %s\n", method, path)
		if err := json.Indent(&b, s.Body.JSON(), "", "  "); err != nil {
			return fmt.Errorf("print %s %s: %w", s.Kind, s.Name, err)
		}
		b.WriteString("\n\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}
