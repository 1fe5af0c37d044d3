package elastic_test

import (
	"cmp"
	"context"
	"errors"
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

// direct is a plain client of a server, without retries. The history has its own client.
type direct struct {
	base   *url.URL
	client *http.Client

	once sync.Once
	real es.Config     // how to reach a real server
	give time.Duration // how long the client retries; 0 means a minute
	own  *es.Client
}

func (d *direct) elastic() *es.Client {
	d.once.Do(func() {
		config := d.real
		if len(config.Addresses) == 0 {
			config = es.Config{Addresses: []string{d.base.String()}, GiveUpAfter: cmp.Or(d.give, time.Minute), Pause: time.Millisecond, NoGzip: true}
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

// call sends one request and returns the body of its answer. A status above 299 is an error.
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

// store returns an empty history with this prefix.
func (d *direct) store(prefix string) *elastic.Store {
	return elastic.New(d.elastic(), prefix)
}

// flushed is a store whose Put returns when documents are stored, so that tests need not finish a run.
type flushed struct{ *elastic.Store }

// Put implements [history.Store].
func (f flushed) Put(ctx context.Context, docs []*mapping.Interval) error {
	return errors.Join(f.Store.Put(ctx, docs), f.Store.Flush(ctx))
}
