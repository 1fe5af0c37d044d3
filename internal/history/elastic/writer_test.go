package elastic_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/mapping"
)

// direct is a way to a server without any comfort: what fails fails. The history goes by a
// client of its own.
type direct struct {
	base   *url.URL
	client *http.Client

	once sync.Once
	real es.Config     // for a server that is not in this process
	give time.Duration // the client waits so long; 0 is a minute
	own  *es.Client
}

// elastic is the client of the history.
func (d *direct) elastic() *es.Client {
	d.once.Do(func() {
		config := d.real
		if len(config.Addresses) == 0 {
			config = es.Config{Addresses: []string{d.base.String()}, GiveUpAfter: cmp.Or(d.give, time.Minute), Pause: time.Millisecond, GzipLevel: es.NoGzip}
		}
		own, err := es.New(config)
		if err != nil {
			panic(err)
		}
		d.own = own
	})
	return d.own
}

func (d *direct) perform(r *http.Request) (*http.Response, error) {
	r.URL.Scheme, r.URL.Host = d.base.Scheme, d.base.Host
	if d.base.User != nil {
		password, _ := d.base.User.Password()
		r.SetBasicAuth(d.base.User.Username(), password)
	}
	return d.client.Do(r)
}

// call sends one request and gives the answer's body; statuses above 299 are errors.
func (d *direct) call(ctx context.Context, method, path, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := d.perform(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode > 299 {
		err = fmt.Errorf("%s %s: status %d: %s", method, path, answer.StatusCode, text)
	}
	return text, err
}

// writer is the plainest elastic.Writer: each Put is a request.
type writer struct {
	*direct
	prefix string
}

func (w *writer) Put(ctx context.Context, docs []*mapping.Interval) error {
	var body bytes.Buffer
	for _, d := range docs {
		body.Write(mapping.AppendAction(nil, d.Index(w.prefix), d.ID()))
		body.WriteByte('\n')
		body.Write(append(d.AppendJSON(nil), '\n'))
	}
	return w.bulk(ctx, body.String(), len(docs))
}

// Finish does what [elastic.Writer] asks for, in as many requests as it takes.
func (w *writer) Finish(ctx context.Context, run *mapping.Run) error {
	same := *run
	if stored, err := elastic.New(w.elastic(), w.prefix, nil).Run(ctx, run.Run.ID); err == nil {
		same.Ingested = stored.Ingested
		if !bytes.Equal(same.AppendJSON(nil), stored.AppendJSON(nil)) {
			same.Ingested = run.Ingested
		}
	}
	action := mapping.AppendAction(nil, mapping.RunsIndex(w.prefix), run.ID())
	_, err := w.call(ctx, http.MethodPost, "/"+w.prefix+"-latency.*/_refresh", "")
	if err == nil {
		err = w.bulk(ctx, fmt.Sprintf("%s\n%s\n", action, same.AppendJSON(nil)), 1)
	}
	if err == nil {
		_, err = w.call(ctx, http.MethodPost, "/"+mapping.RunsIndex(w.prefix)+"/_refresh", "")
	}
	if err == nil {
		query := fmt.Sprintf(`{"query":{"bool":{"filter":[{"term":{"run.id":%q}}],"must_not":[{"term":{"run.ingest":%q}}]}}}`, run.Run.ID, run.Run.Ingest)
		_, err = w.call(ctx, http.MethodPost, "/"+w.prefix+"-latency.*/_delete_by_query?conflicts=proceed&refresh=true&max_docs=100000", query)
	}
	return err
}

func (w *writer) bulk(ctx context.Context, body string, n int) error {
	text, err := w.call(ctx, http.MethodPost, "/_bulk", body)
	if err != nil {
		return err
	}
	var answer struct {
		Errors bool
		Items  []json.RawMessage
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Errors || len(answer.Items) != n {
		return fmt.Errorf("bulk of %d: %.1000s, %w", n, text, err)
	}
	return nil
}
