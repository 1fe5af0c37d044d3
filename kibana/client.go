package kibana

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping"
)

// The oldest version of Kibana that accepts the objects.
const minMajor, minMinor = 8, 3

// Reasons why a server cannot be used.
var (
	ErrNotKibana = errors.New("not Kibana")
	ErrTooOld    = errors.New("this Kibana is too old")
	ErrNoSpace   = errors.New("there is no such space")
	ErrNewer     = errors.New("installed by a newer fio2es")
)

// Client sends requests to a Kibana.
type Client struct{ transport *es.Client }

// NewClient returns a client that sends with transport. For good error messages, [es.Config].Service of transport
// must be "Kibana".
func NewClient(transport *es.Client) *Client { return &Client{transport} }

// Check checks that the server is a Kibana, and returns its version. It fails with [ErrNotKibana], with [ErrTooOld]
// (before 8.3), or with the error of the request.
func (c *Client) Check(ctx context.Context) (version string, err error) {
	var answer struct {
		Version struct{ Number string }
	}
	err = c.do(ctx, "", es.Request{URI: "/api/status"}, &answer)
	var e *es.Error
	switch number := answer.Version.Number; {
	case errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed || e.Status/100 == 3), errors.Is(err, es.ErrAnswer):
		err = fmt.Errorf("%w: %w; is its base path in the address?", ErrNotKibana, err)
	case err != nil:
	case number == "":
		err = fmt.Errorf("%w: its answer has no version, which Kibana sends only to users who are logged in", ErrNotKibana)
	default:
		isOld, bad := es.IsBefore(number, minMajor, minMinor)
		if bad != nil {
			err = fmt.Errorf("%w: version %q", ErrNotKibana, number)
		} else if isOld {
			err = fmt.Errorf("%w: version %s, but %d.%d is the oldest that accepts the dashboards", ErrTooOld, number, minMajor, minMinor)
		}
	}
	if err != nil {
		return "", fmt.Errorf("check Kibana at %s: %w", c.transport, err)
	}
	return answer.Version.Number, nil
}

// CheckSpace fails with [ErrNoSpace] if a space does not exist. Kibana accepts objects for such a space, but no user
// can open them.
func (c *Client) CheckSpace(ctx context.Context, space string) error {
	if space == "" || space == DefaultSpace {
		return nil
	}
	err := c.do(ctx, "", es.Request{URI: "/api/spaces/space/" + url.PathEscape(space)}, nil)
	if es.IsNotFound(err) {
		return fmt.Errorf("%w: %s has no %q; make it in Stack Management, Spaces, with this as its identifier", ErrNoSpace, c.transport, space)
	}
	if err != nil {
		return fmt.Errorf("look for space %s: %w", space, err)
	}
	return nil
}

// Plan is what setup does with the objects of a bundle.
type Plan struct {
	client  *Client
	bundle  *Bundle
	missing []string // ids of objects that the space does not have
	same    bool     // the space has this version of the others
}

// Prepare compares a bundle with what its space has. It fails with [ErrNewer] if a newer fio2es installed that.
func (c *Client) Prepare(ctx context.Context, b *Bundle) (*Plan, error) {
	p := &Plan{client: c, bundle: b}
	var have mark
	if i := b.marked(); i >= 0 {
		_, err := c.export(ctx, b.Space, b.Objects[i:i+1], es.Reader(func(_ http.Header, text []byte) error {
			var o Object
			err := json.NewDecoder(bytes.NewReader(text)).Decode(&o)
			have = o.mark()
			return err
		}))
		if err != nil {
			return nil, err
		}
		if have.Version > Version {
			return nil, fmt.Errorf("set up Kibana at %s: nothing was changed: it has version %d of the dashboards, this fio2es has %d; use the newer program: %w",
				c.transport, have.Version, Version, ErrNewer)
		}
		p.same = have == b.Objects[i].mark()
	}
	missing, err := c.export(ctx, b.Space, b.Objects, nil)
	if err != nil {
		return nil, err
	}
	p.missing = missing
	return p, nil
}

// export asks for objects of a space, and returns the ids of those that it does not have. An export needs the same
// privilege as the import.
func (c *Client) export(ctx context.Context, space string, objects []Object, read any) (missing []string, err error) {
	type ref struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}
	request := struct {
		Objects []ref `json:"objects"`
		Exclude bool  `json:"excludeExportDetails"`
	}{Exclude: true}
	for _, o := range objects {
		request.Objects = append(request.Objects, ref{o.Type, o.ID})
	}
	err = c.do(ctx, space, es.Request{URI: "/api/saved_objects/_export", Body: request}, read)
	if err == nil {
		return nil, nil
	}
	var answer struct {
		Attributes struct{ Objects []ref }
	}
	e, isAnswer := errors.AsType[*es.Error](err)
	if !isAnswer || e.Status != http.StatusBadRequest || json.Unmarshal(e.Body, &answer) != nil || len(answer.Attributes.Objects) == 0 {
		return nil, fmt.Errorf("look for saved objects: %w", err)
	}
	for _, r := range answer.Attributes.Objects {
		missing = append(missing, r.ID)
	}
	return missing, nil
}

// Import writes the objects of a bundle into its space. It replaces objects with the same ids, and changes nothing
// else. If Kibana refuses objects, the error names each. The other objects are imported, and the import can be
// repeated.
//
// The request is sent once.
func (c *Client) Import(ctx context.Context, b *Bundle) error {
	var body bytes.Buffer // as a browser uploads a file
	w := multipart.NewWriter(&body)
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="fio2es.ndjson"`},
		"Content-Type":        {"application/ndjson"},
	})
	if err == nil {
		err = errors.Join(b.WriteNDJSON(part), w.Close())
	}
	type object struct {
		Type, ID string
		Meta     struct{ Title string }
	}
	var answer struct {
		Success        bool
		SuccessCount   int
		SuccessResults []struct {
			object
			DestinationID string `json:"destinationId"`
		}
		Errors []struct {
			object
			Error struct {
				Type, Message string
				References    []Reference
			}
		}
	}
	if err == nil {
		err = c.do(ctx, b.Space, es.Request{URI: importURI, Body: body.Bytes(), Type: w.FormDataContentType()}, &answer)
	}
	if err != nil {
		return fmt.Errorf("import into Kibana: %w", err)
	}
	var faults []error
	fault := func(o object, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s %q (%s): %s", o.Type, o.Meta.Title, o.ID, fmt.Sprintf(format, args...)))
	}
	for _, e := range answer.Errors {
		parts := []string{strings.ReplaceAll(e.Error.Type, "_", " ")}
		for _, r := range e.Error.References {
			if text := r.Type + " " + r.ID; !slices.Contains(parts, text) { // an object is named each time that it is used
				parts = append(parts, text)
			}
		}
		text := strings.Join(parts, ", ")
		if e.Error.Message != "" {
			text += ": " + c.transport.Redact(e.Error.Message)
		}
		fault(e.object, "%s", text)
	}
	for _, r := range answer.SuccessResults {
		if r.DestinationID != "" && r.DestinationID != r.ID {
			fault(r.object, "another space has this id, so Kibana named it %s here and links to it lead nowhere: delete both, and import for each space by its name", r.DestinationID)
		}
	}
	if len(faults) == 0 && (!answer.Success || answer.SuccessCount != len(b.Objects)) {
		faults = append(faults, errors.New("the answer does not mention all objects"))
	}
	if len(faults) > 0 {
		return fmt.Errorf("import into Kibana: %d of %d saved objects are imported: %w", answer.SuccessCount, len(b.Objects), errors.Join(faults...))
	}
	return nil
}

const importURI = "/api/saved_objects/_import?overwrite=true"

// do sends a request to a space and decodes the answer, unless into is nil.
func (c *Client) do(ctx context.Context, space string, req es.Request, into any) error {
	if space != "" && space != DefaultSpace {
		req.URI = "/s/" + url.PathEscape(space) + req.URI
	}
	// without this header, Kibana refuses the request as a possible forgery
	req.Header = http.Header{"Kbn-Xsrf": {"fio2es"}}
	send := c.transport.Do
	if strings.HasSuffix(req.URI, importURI) {
		send = c.transport.Once
	}
	err := send(ctx, req, into)
	if e, ok := errors.AsType[*es.Error](err); ok {
		return fmt.Errorf("%s %s: %w%s", e.Method, e.Path, err, advice(e))
	}
	return err
}

// advice returns what to do about an error, after a colon.
func advice(e *es.Error) string {
	switch e.Status {
	case http.StatusForbidden:
		return "; docs/kibana.md lists the privileges"
	case http.StatusRequestEntityTooLarge:
		return ": the objects are too large for Kibana or a proxy in front of it: see savedObjects.maxImportPayloadBytes"
	case http.StatusUnprocessableEntity:
		return ": this Kibana is older than the objects"
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return ": it redirects to another address: is the address right, and is there a proxy with a login?"
	}
	if es.Temporary(e) {
		return ": try again later"
	}
	return ""
}

// Print writes what [Plan.Apply] would do with each object: create, replace or keep it.
func (p *Plan) Print(w io.Writer) error {
	var b strings.Builder
	for _, o := range p.bundle.Objects {
		action := "replace"
		if slices.Contains(p.missing, o.ID) {
			action = "create"
		} else if p.same {
			action = "keep"
		}
		fmt.Fprintf(&b, "# %s %s %s in Kibana: %s\n", action, o.Type, o.ID, o.Title())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Apply imports all objects if one is missing or differs, and writes the addresses of the dashboards.
func (p *Plan) Apply(ctx context.Context, w io.Writer) error {
	var b strings.Builder
	action := "keep %d saved objects in Kibana\n"
	if !p.same || len(p.missing) > 0 {
		if err := p.client.Import(ctx, p.bundle); err != nil {
			return err
		}
		action = "import %d saved objects into Kibana\n"
	}
	fmt.Fprintf(&b, action, len(p.bundle.Objects))
	for _, o := range p.bundle.Objects {
		if o.Type == typeDashboard {
			fmt.Fprintf(&b, "dashboard %q: %s\n", o.Title(), p.bundle.address(p.client.transport.String(), &o)+opened(&o))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (b *Bundle) address(kibana string, o *Object) string {
	base := strings.TrimRight(kibana, "/")
	if b.Space != "" && b.Space != DefaultSpace {
		base += "/s/" + b.Space
	}
	return base + "/app/dashboards#/view/" + o.ID
}

// opened returns the end of the address of a dashboard that does not have its own time.
func opened(o *Object) string {
	if o.Attributes["timeRestore"] != false {
		return ""
	}
	return fmt.Sprintf("?_g=(time:(from:%s,to:%s))", o.Attributes["timeFrom"], o.Attributes["timeTo"])
}

// RunAddress returns the address of the dashboard of a run in a Kibana.
func (b *Bundle) RunAddress(kibana string, run *mapping.RunInfo) string {
	const dashboard = "run"
	for i := range b.Objects {
		if o := &b.Objects[i]; o.Type == typeDashboard && strings.HasSuffix(o.ID, dashboard) {
			return b.address(kibana, o) + "?_g=(" + strings.ReplaceAll(run.Link(), `"`, "%22") + ")"
		}
	}
	panic("no dashboard " + dashboard) // a test finds this
}
