package es

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// The oldest version of Elasticsearch that works.
const minMajor, minMinor = 8, 6

// Errors of [Client.Check].
var (
	ErrNotElastic = errors.New("not elasticsearch")
	ErrTooOld     = errors.New("elasticsearch is too old")
	ErrServerless = errors.New("elasticsearch serverless is not supported")
)

// Info describes a server.
type Info struct {
	Cluster string // name of the cluster
	Version string // such as "8.6.1"
}

// maxInfo limits the answer to GET /, in bytes. Elasticsearch sends about 600.
const maxInfo = 256 << 10

// Check checks that the server is a usable Elasticsearch, and waits if the server is not up yet. It fails with
// [ErrNotElastic] (OpenSearch, the page of a proxy, anything else), [ErrTooOld] (before 8.6), [ErrServerless],
// [ErrAuth], [ErrForbidden], or an error of the connection.
func (c *Client) Check(ctx context.Context) (Info, error) {
	var answer struct {
		ClusterName string `json:"cluster_name"`
		Version     struct {
			Number       string `json:"number"`
			Flavor       string `json:"build_flavor"`
			Distribution string `json:"distribution"`
		} `json:"version"`
		Tagline string `json:"tagline"`
	}
	product := ""
	err := c.try(ctx, esapi.InfoRequest{}, func(res *http.Response) error {
		product = res.Header.Get("X-Elastic-Product")
		return c.read(res, maxInfo, &answer)
	})
	v := answer.Version
	if err == nil {
		err = checkAnswer(product, v.Number, v.Flavor, v.Distribution, answer.Tagline)
	} else {
		err = explain(err)
	}
	var reach *reachError // its text names the server
	switch {
	case errors.As(err, &reach):
		return Info{}, fmt.Errorf("check server: %w", err)
	case err != nil:
		return Info{}, fmt.Errorf("check server %s: %w", c, err)
	}
	return Info{Cluster: answer.ClusterName, Version: v.Number}, nil
}

// checkAnswer checks the answer to GET /.
func checkAnswer(product, number, flavor, distribution, tagline string) error {
	switch {
	case distribution != "" || strings.Contains(tagline, "OpenSearch"):
		return fmt.Errorf("%w: this is %s %s, whose histograms and templates differ", ErrNotElastic, cmp.Or(distribution, "OpenSearch"), number)
	case number == "":
		return fmt.Errorf("%w: something else answers at this address", ErrNotElastic)
	case flavor == "serverless":
		return fmt.Errorf("%w: it has neither lifecycle policies nor settings for shards, which the templates need", ErrServerless)
	}
	isOld, err := IsBefore(number, minMajor, minMinor)
	switch {
	case err != nil:
		return fmt.Errorf("%w: version %q", ErrNotElastic, number)
	case isOld:
		return fmt.Errorf("%w: version %s, but %d.%d is the oldest that works", ErrTooOld, number, minMajor, minMinor)
	case product != "Elasticsearch": // every answer has this header since 7.14
		return fmt.Errorf("%w: it says version %s, but not that it is Elasticsearch (header X-Elastic-Product); does a proxy remove it?", ErrNotElastic, number)
	}
	return nil
}

// explain adds to an error of GET / what to do about it.
func explain(err error) error {
	var e *Error
	switch {
	case errors.Is(err, ErrTooLong):
		return fmt.Errorf("%w: something else answers at this address: more than %d bytes", ErrNotElastic, maxInfo)
	case errors.Is(err, ErrAnswer):
		return fmt.Errorf("%w: something else answers at this address: %w", ErrNotElastic, err)
	case !errors.As(err, &e), e.isTemporary():
		return err
	case e.Status == http.StatusUnauthorized:
		return err
	case e.IsForbidden() && !e.Foreign:
		return fmt.Errorf("the role needs the cluster privilege cluster:monitor/main, or monitor, which includes it: %w", err)
	case e.Foreign, e.Status < http.StatusBadRequest, e.Status == http.StatusNotFound:
		return fmt.Errorf("%w: %w; is it a proxy that wants a login, or another service?", ErrNotElastic, e)
	}
	return err
}

// IsBefore reports whether a version of Elasticsearch or Kibana, such as "8.6.1" or "9.1.0-SNAPSHOT", is older than
// major.minor. It fails if number is no version.
func IsBefore(number string, major, minor int) (bool, error) {
	parts := strings.SplitN(number, ".", 3)
	if len(parts) < 2 {
		return false, fmt.Errorf("read version %q: %w", number, strconv.ErrSyntax)
	}
	first, err1 := strconv.Atoi(parts[0])
	second, err2 := strconv.Atoi(parts[1])
	if err := errors.Join(err1, err2); err != nil {
		return false, fmt.Errorf("read version %q: %w", number, err)
	}
	return first < major || first == major && second < minor, nil
}
