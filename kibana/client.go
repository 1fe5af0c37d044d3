package kibana

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"github.com/fio2es/fio2es/internal/es"
)

// The oldest version of Kibana that accepts the objects.
const minMajor, minMinor = 8, 3

// Reasons why a server cannot be used.
var (
	ErrNotKibana = errors.New("not Kibana")
	ErrTooOld    = errors.New("this Kibana is too old")
	ErrNoSpace   = errors.New("there is no such space")
)

// Client sends requests to a Kibana.
type Client struct{ transport *es.Client }

// NewClient returns a client that sends with transport. For good error messages, [es.Config].Service of transport
// must be "Kibana".
func NewClient(transport *es.Client) *Client { return &Client{transport} }

// ObjectError means that Kibana refused or renamed an object.
type ObjectError struct {
	Type, ID, Title string
	Reason          string
}

// Error implements error.
func (e *ObjectError) Error() string {
	return fmt.Sprintf("%s %q (%s): %s", e.Type, e.Title, e.ID, e.Reason)
}

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
		err = checkVersion(number)
	}
	if err != nil {
		return "", fmt.Errorf("check Kibana at %s: %w", c.transport, err)
	}
	return answer.Version.Number, nil
}

func checkVersion(number string) error {
	isOld, err := es.IsBefore(number, minMajor, minMinor)
	if err != nil {
		return fmt.Errorf("%w: version %q", ErrNotKibana, number)
	}
	if isOld {
		return fmt.Errorf("%w: version %s, but %d.%d is the oldest that accepts the dashboards", ErrTooOld, number, minMajor, minMinor)
	}
	return nil
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

// Missing returns the objects of a bundle that its space does not have yet, in their order.
func (c *Client) Missing(ctx context.Context, b *Bundle) ([]Object, error) {
	type ref struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}
	request := struct {
		Objects []ref `json:"objects"`
		Exclude bool  `json:"excludeExportDetails"`
	}{Exclude: true}
	for _, o := range b.Objects {
		request.Objects = append(request.Objects, ref{o.Type, o.ID})
	}
	// The error of an export names the missing objects. An export needs the same privilege as the import.
	err := c.do(ctx, b.Space, es.Request{URI: "/api/saved_objects/_export", Body: request}, nil)
	var answer struct {
		Attributes struct{ Objects []ref }
	}
	var e *es.Error
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &e) && e.Status == http.StatusBadRequest && json.Unmarshal(e.Body, &answer) == nil && len(answer.Attributes.Objects) > 0:
	default:
		return nil, fmt.Errorf("look for saved objects: %w", err)
	}
	isMissing := map[ref]bool{}
	for _, r := range answer.Attributes.Objects {
		isMissing[r] = true
	}
	var missing []Object
	for _, o := range b.Objects {
		if isMissing[ref{o.Type, o.ID}] {
			missing = append(missing, o)
		}
	}
	return missing, nil
}

// Import writes the objects of a bundle into its space. It replaces objects with the same ids, and changes nothing
// else. If Kibana refuses objects, each is an [*ObjectError] in the joined error. The other objects are imported,
// and the import can be repeated.
//
// The request is sent once.
func (c *Client) Import(ctx context.Context, b *Bundle) error {
	body, contentType, err := form(b)
	if err != nil {
		return fmt.Errorf("import into Kibana: %w", err)
	}
	var answer importAnswer
	req := es.Request{URI: importURI, Body: body, Type: contentType}
	if err := c.do(ctx, b.Space, req, &answer); err != nil {
		return fmt.Errorf("import into Kibana: %w", err)
	}
	if err := answer.err(len(b.Objects)); err != nil {
		return fmt.Errorf("import into Kibana: %d of %d saved objects are imported: %w", answer.SuccessCount, len(b.Objects), err)
	}
	return nil
}

// form returns a bundle in the form in which a browser uploads a file.
func form(b *Bundle) (body []byte, contentType string, err error) {
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="fio2es.ndjson"`},
		"Content-Type":        {"application/ndjson"},
	})
	if err != nil {
		return nil, "", err
	}
	if err := b.WriteNDJSON(part); err != nil {
		return nil, "", err
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return buf.Bytes(), w.FormDataContentType(), nil
}

// importAnswer has the result for each object.
type importAnswer struct {
	Success        bool
	SuccessCount   int
	SuccessResults []struct {
		importObject
		DestinationID string `json:"destinationId"`
	}
	Errors []struct {
		importObject
		Error importFault
	}
}

type importObject struct {
	Type, ID string
	Meta     struct{ Title string }
}

// importFault says why an object was refused.
type importFault struct {
	Type       string
	Message    string
	References []Reference
}

func (f *importFault) String() string {
	text := strings.ReplaceAll(f.Type, "_", " ")
	seen := map[Reference]bool{}
	for _, r := range f.References {
		if !seen[r] { // an object is named each time that it is used
			text += fmt.Sprintf(", %s %s", r.Type, r.ID)
		}
		seen[r] = true
	}
	if f.Message != "" {
		text += ": " + f.Message
	}
	return text
}

func (a *importAnswer) err(want int) error {
	var faults []error
	for _, e := range a.Errors {
		faults = append(faults, &ObjectError{e.Type, e.ID, e.Meta.Title, e.Error.String()})
	}
	for _, r := range a.SuccessResults {
		if r.DestinationID != "" && r.DestinationID != r.ID {
			faults = append(faults, &ObjectError{r.Type, r.ID, r.Meta.Title, fmt.Sprintf(
				"another space has this id, so Kibana named it %s here and links to it lead nowhere: delete both, and import for each space by its name", r.DestinationID)})
		}
	}
	if len(faults) == 0 && (!a.Success || a.SuccessCount != want) {
		faults = append(faults, errors.New("the answer does not mention all objects"))
	}
	return errors.Join(faults...)
}

// maxAnswer is the limit of an answer in bytes: many times the size of all objects of a bundle.
const maxAnswer = 16 << 20

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
	err := send(ctx, es.Limited{Request: req, MaxAnswer: maxAnswer}, into)
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
