package kibanatest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Context is what a panel gets from its dashboard.
type Context struct {
	From, To time.Time
	Filters  []any // from the query and the controls: Elasticsearch queries that must all match
}

// Search is a request to Elasticsearch.
type Search struct {
	Index string
	Body  map[string]any
}

// JSON returns the body of the search.
func (s Search) JSON() []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(s.Body); err != nil {
		panic(fmt.Sprintf("encode search: %v", err)) // cannot fail: it was decoded from JSON
	}
	return text.Bytes()
}

// Resolve returns the search that Kibana makes from the url of a data set. It fails for what Kibana refuses, and for
// placeholders that Kibana would not replace.
func Resolve(url []byte, c Context) (Search, error) {
	var u map[string]any
	if err := json.Unmarshal(url, &u); err != nil {
		return Search{}, fmt.Errorf("read url of data set: %w", err)
	}
	index, _ := u["index"].(string)
	body, ok := u["body"].(map[string]any)
	if index == "" || !ok {
		return Search{}, errors.New("url of data set: it needs an index and a body")
	}
	field, hasField := u["%timefield%"].(string)
	context, hasContext := u["%context%"]
	switch {
	case body["query"] != nil && (hasField || hasContext):
		return Search{}, errors.New("url of data set: a query excludes %context% and %timefield%")
	case body["query"] != nil:
		if err := c.inject(body["query"], ""); err != nil {
			return Search{}, err
		}
	case context == true:
		body["query"] = c.query(field)
	case hasField:
		body["query"] = c.timeRange(field)
	}
	if aggs, ok := body["aggs"]; ok {
		if err := c.inject(aggs, ""); err != nil {
			return Search{}, err
		}
	}
	s := Search{index, body}
	if left := regexp.MustCompile(`%[a-z_-]+%`).Find(s.JSON()); left != nil {
		return Search{}, fmt.Errorf("url of data set: Kibana knows no %s there", left)
	}
	return s, nil
}

func (c *Context) query(field string) any {
	must := []any{}
	if field != "" {
		must = append(must, c.timeRange(field))
	}
	return map[string]any{"bool": map[string]any{
		"must": must, "filter": append([]any{}, c.Filters...), "should": []any{}, "must_not": []any{},
	}}
}

func (c *Context) timeRange(field string) any {
	return map[string]any{"range": map[string]any{field: c.span(map[string]any{})}}
}

// span sets into to the time range of the dashboard.
func (c *Context) span(into map[string]any) map[string]any {
	const layout = "2006-01-02T15:04:05.000Z"
	delete(into, "%timefilter%")
	into["gte"], into["lte"] = c.From.UTC().Format(layout), c.To.UTC().Format(layout)
	into["format"] = "strict_date_optional_time"
	return into
}

// inject replaces the placeholders below v, which has the name key.
func (c *Context) inject(v any, key string) error {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			if err := c.inject(inner, ""); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := c.replace(v, key, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace replaces the placeholder in the member name of m, or those below it.
func (c *Context) replace(m map[string]any, key, name string) error {
	if name == "interval" && key == "date_histogram" {
		kind, interval, err := c.interval(m[name])
		if err != nil {
			return err
		}
		delete(m, name)
		m[kind] = interval
		return nil
	}
	if list, ok := m[name].([]any); ok {
		m[name] = c.clauses(list)
	}
	inner, ok := m[name].(map[string]any)
	if !ok {
		return c.inject(m[name], name)
	}
	switch inner["%timefilter%"] {
	case nil:
		return c.inject(inner, name)
	case "min":
		m[name] = c.From.Add(shift(inner)).UnixMilli()
	case "max":
		m[name] = c.To.Add(shift(inner)).UnixMilli()
	case true:
		c.span(inner)
	default:
		return fmt.Errorf("url of data set: %%timefilter%% is %v", inner["%timefilter%"])
	}
	return nil
}

// shift returns how far a time is from the one that is named.
func shift(of map[string]any) time.Duration {
	n, _ := of["shift"].(float64)
	units := map[any]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}
	return time.Duration(n * float64(units[of["unit"]]))
}

// clauses replaces placeholders by the filters of the dashboard.
func (c *Context) clauses(list []any) []any {
	asked := c.query("").(map[string]any)["bool"].(map[string]any)
	var out []any
	for _, v := range list {
		clause := ""
		if text, ok := v.(string); ok {
			text, _ = strings.CutPrefix(text, "%dashboard_context-")
			clause, _ = strings.CutSuffix(text, "_clause%")
		}
		if some, ok := asked[clause].([]any); ok {
			out = append(out, some...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

func (c *Context) interval(v any) (kind, text string, err error) {
	text, ok := v.(string)
	if !ok {
		auto, _ := v.(map[string]any)
		n, ok := auto["%autointerval%"].(float64)
		if !ok || n <= 0 {
			return "", "", fmt.Errorf("url of data set: interval is %v", v)
		}
		text = AutoInterval(time.Duration(float64(c.To.Sub(c.From)) / n))
	}
	if calendar.MatchString(text) {
		return "calendar_interval", text, nil
	}
	return "fixed_interval", text, nil
}

// calendar matches the intervals that Kibana sends as calendar intervals.
var calendar = regexp.MustCompile(`^(1[mhd]|[0-9]+[wMy])$`)

// intervals are the intervals that Kibana chooses for Vega, each with the longest wanted length for which it is
// chosen.
var intervals = []struct {
	upTo, length time.Duration
	text         string
}{
	{500 * time.Millisecond, 100 * time.Millisecond, "100ms"},
	{5 * time.Second, time.Second, "1s"},
	{7500 * time.Millisecond, 5 * time.Second, "5s"},
	{15 * time.Second, 10 * time.Second, "10s"},
	{45 * time.Second, 30 * time.Second, "30s"},
	{3 * time.Minute, time.Minute, "1m"},
	{7*time.Minute + 30*time.Second, 5 * time.Minute, "5m"},
	{20 * time.Minute, 10 * time.Minute, "10m"},
	{45 * time.Minute, 30 * time.Minute, "30m"},
	{2 * time.Hour, time.Hour, "1h"},
	{6 * time.Hour, 3 * time.Hour, "3h"},
	{24 * time.Hour, 12 * time.Hour, "12h"},
	{7 * 24 * time.Hour, 24 * time.Hour, "24h"},
	{21 * 24 * time.Hour, 7 * 24 * time.Hour, "1w"},
	{42*24*time.Hour - 1, 30 * 24 * time.Hour, "30d"},
}

// AutoInterval returns the interval that Kibana chooses if buckets of this length are wanted. Most are shorter, by
// up to a seventh.
func AutoInterval(wish time.Duration) string {
	for _, i := range intervals {
		if wish <= i.upTo {
			return i.text
		}
	}
	return "1y"
}

// MaxBuckets returns how many buckets Kibana makes at most if n are wanted. If the range cuts the first and the last
// bucket, there is one more.
func MaxBuckets(n int) int {
	most := 1.0
	for _, i := range intervals {
		most = max(most, i.upTo.Seconds()/i.length.Seconds())
	}
	return int(float64(n)*most) + 1
}
