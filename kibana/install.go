package kibana

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Print writes what [Client.Install] does with each object: create or replace it.
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
	address := strings.TrimRight(c.transport.String(), "/")
	if b.Space != "" && b.Space != DefaultSpace {
		address += "/s/" + b.Space
	}
	if _, err := fmt.Fprintf(w, "import %d saved objects into Kibana\n", len(b.Objects)); err != nil {
		return err
	}
	for _, o := range b.Objects {
		if o.Type != "dashboard" {
			continue
		}
		if _, err := fmt.Fprintf(w, "dashboard %q: %s/app/dashboards#/view/%s\n", o.Title(), address, o.ID); err != nil {
			return err
		}
	}
	return nil
}
