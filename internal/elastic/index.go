package elastic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// ErrShards is an answer that some shards did not contribute to: its numbers are wrong.
var ErrShards = errors.New("some shards did not answer")

// Shards is the part _shards of an answer.
type Shards struct {
	Total      int `json:"total"`
	Successful int `json:"successful"`
	Skipped    int `json:"skipped"`
	Failed     int `json:"failed"`
	Failures   []struct {
		Index  string `json:"index"`
		Reason struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
		} `json:"reason"`
	} `json:"failures"`
}

// Err is [ErrShards] when a shard failed. Elasticsearch answers 200 then, all the same.
func (s Shards) Err() error {
	if s.Failed == 0 && len(s.Failures) == 0 {
		return nil
	}
	text := ""
	if len(s.Failures) > 0 {
		f := s.Failures[0]
		text = fmt.Sprintf(": index %s: %s: %s", f.Index, f.Reason.Type, f.Reason.Reason)
	}
	return fmt.Errorf("%w: %d of %d%s", ErrShards, s.Failed, s.Total, text)
}

// lenient lets a pattern match nothing, and indices go while it is looked at.
func lenient(more ...string) url.Values {
	q := url.Values{"ignore_unavailable": {"true"}, "allow_no_indices": {"true"}}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return q
}

// Refresh makes all that is stored in the indices (names or patterns) visible. It is no
// error when there are none.
func (c *Client) Refresh(ctx context.Context, indices ...string) error {
	var answer struct {
		Shards Shards `json:"_shards"`
	}
	err := c.Do(ctx, Request{Method: http.MethodPost, Path: []string{join(indices), "_refresh"}, Query: lenient()}, &answer)
	if err == nil {
		err = answer.Shards.Err()
	}
	if err != nil {
		return fmt.Errorf("refresh %s: %w", join(indices), err)
	}
	return nil
}

// Count is the number of visible documents that match query, a JSON object such as
// {"term": …}. It is 0 when there are no such indices.
func (c *Client) Count(ctx context.Context, query any, indices ...string) (int64, error) {
	var answer struct {
		Count  int64  `json:"count"`
		Shards Shards `json:"_shards"`
	}
	err := c.Do(ctx, Request{Path: []string{join(indices), "_count"}, Query: lenient(), Body: map[string]any{"query": query}}, &answer)
	if err == nil {
		err = answer.Shards.Err()
	}
	if err != nil {
		return 0, fmt.Errorf("count documents in %s: %w", join(indices), err)
	}
	return answer.Count, nil
}

// Changed is what one DeleteByQuery or UpdateByQuery did.
type Changed struct {
	Documents int64 // deleted or updated
	Conflicts int64 // documents that changed meanwhile, and were left as they are
}

// DeleteByQuery deletes at most limit visible documents that match query, and makes that
// visible. It is sent once: again until it deletes nothing and has no conflicts. A
// document that could not be deleted is an error, such as one behind a block.
func (c *Client) DeleteByQuery(ctx context.Context, query any, limit int, indices ...string) (Changed, error) {
	done, err := c.byQuery(ctx, "_delete_by_query", map[string]any{"query": query}, limit, indices)
	if err != nil {
		return Changed{}, fmt.Errorf("delete documents in %s: %w", join(indices), err)
	}
	return done, nil
}

// UpdateByQuery runs a painless script on at most limit visible documents that match query,
// as DeleteByQuery deletes them. The script has to make that a document matches no more.
func (c *Client) UpdateByQuery(ctx context.Context, query any, script string, limit int, indices ...string) (Changed, error) {
	body := map[string]any{"query": query, "script": map[string]any{"lang": "painless", "source": script}}
	done, err := c.byQuery(ctx, "_update_by_query", body, limit, indices)
	if err != nil {
		return Changed{}, fmt.Errorf("update documents in %s: %w", join(indices), err)
	}
	return done, nil
}

func (c *Client) byQuery(ctx context.Context, action string, body any, limit int, indices []string) (Changed, error) {
	var answer struct {
		Deleted   int64 `json:"deleted"`
		Updated   int64 `json:"updated"`
		Conflicts int64 `json:"version_conflicts"`
		TimedOut  bool  `json:"timed_out"`
		Failures  []struct {
			Index  string `json:"index"`
			Status int    `json:"status"`
			Cause  struct{ Type, Reason string }
			Reason struct{ Type, Reason string } // of a search that failed
		} `json:"failures"`
	}
	err := c.Do(ctx, Request{
		Path:  []string{join(indices), action},
		Query: lenient("conflicts", "proceed", "refresh", "true", "max_docs", strconv.Itoa(limit)),
		Body:  body,
	}, &answer)
	switch {
	case err != nil:
	case len(answer.Failures) > 0:
		f := answer.Failures[0]
		err = &Error{Status: f.Status, Type: f.Cause.Type + f.Reason.Type, Reason: f.Cause.Reason + f.Reason.Reason, Index: f.Index}
	case answer.TimedOut:
		err = ErrTimeout
	}
	return Changed{Documents: answer.Deleted + answer.Updated, Conflicts: answer.Conflicts}, err
}

// Templates are the versions (_meta.version, 0 where there is none) of the index
// templates whose names match a pattern, by name.
func (c *Client) Templates(ctx context.Context, pattern string) (map[string]int, error) {
	var answer struct {
		Templates []struct {
			Name     string `json:"name"`
			Template struct {
				Meta struct {
					Version any `json:"version"`
				} `json:"_meta"`
			} `json:"index_template"`
		} `json:"index_templates"`
	}
	err := c.Do(ctx, Request{Path: []string{"_index_template", pattern}}, &answer)
	var e *Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		return map[string]int{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read index templates %s: %w", pattern, err)
	}
	versions := make(map[string]int, len(answer.Templates))
	for _, t := range answer.Templates {
		version, _ := t.Template.Meta.Version.(float64)
		versions[t.Name] = int(version)
	}
	return versions, nil
}

// FieldTypes are the types of a field in the indices that match a pattern, by index.
// Indices in which it is not mapped are left out.
func (c *Client) FieldTypes(ctx context.Context, pattern, field string) (map[string]string, error) {
	var answer map[string]struct {
		Mappings map[string]struct {
			Mapping map[string]struct{ Type string }
		}
	}
	err := c.Do(ctx, Request{Path: []string{pattern, "_mapping", "field", field}, Query: lenient()}, &answer)
	var e *Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read mappings of %s: %w", pattern, err)
	}
	types := make(map[string]string)
	for index, in := range answer {
		for _, mapping := range in.Mappings[field].Mapping {
			types[index] = mapping.Type
		}
	}
	return types, nil
}

func join(indices []string) string { return strings.Join(indices, ",") }
