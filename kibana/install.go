package kibana

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/mapping"
)

// Print writes what [Client.Install] would do with each object: create or replace it.
func (c *Client) Print(ctx context.Context, b *Bundle, w io.Writer) error {
	missing, err := c.Missing(ctx, b)
	if err != nil {
		return err
	}
	for _, o := range b.Objects {
		action := "replace"
		if slices.ContainsFunc(missing, func(m Object) bool { return m.Type == o.Type && m.ID == o.ID }) {
			action = "create"
		}
		if _, err := fmt.Fprintf(w, "# %s %s %s in Kibana: %s\n", action, o.Type, o.ID, o.Title()); err != nil {
			return err
		}
	}
	return nil
}

// Install imports all objects, and writes the addresses of the dashboards.
func (c *Client) Install(ctx context.Context, b *Bundle, w io.Writer) error {
	if err := c.Import(ctx, b); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "import %d saved objects into Kibana\n", len(b.Objects)); err != nil {
		return err
	}
	for _, o := range b.Objects {
		if o.Type != "dashboard" {
			continue
		}
		if _, err := fmt.Fprintf(w, "dashboard %q: %s\n", o.Title(), b.address(c.transport.String(), &o)); err != nil {
			return err
		}
	}
	return nil
}

// address returns the address of a dashboard in a Kibana.
func (b *Bundle) address(kibana string, o *Object) string {
	base := strings.TrimRight(kibana, "/")
	if b.Space != "" && b.Space != DefaultSpace {
		base += "/s/" + b.Space
	}
	return base + "/app/dashboards#/view/" + o.ID
}

// RunAddress returns the address of the dashboard of a run in a Kibana.
func (b *Bundle) RunAddress(kibana string, run *mapping.RunInfo) string {
	const dashboard = "run"
	for i := range b.Objects {
		if o := &b.Objects[i]; o.Type == "dashboard" && strings.HasSuffix(o.ID, dashboard) {
			return b.address(kibana, o) + "?_g=(" + strings.ReplaceAll(run.Link(), `"`, "%22") + ")"
		}
	}
	panic("no dashboard " + dashboard) // a test finds this
}
