package plan

import (
	"strings"
	"testing"
	"time"
)

func TestApart(t *testing.T) {
	at := func(host string, start, end int) span {
		return span{host: host, start: time.Unix(int64(start), 0), end: time.Unix(int64(end), 0)}
	}
	for _, c := range []struct {
		name  string
		spans []span
		want  string
	}{
		{"one host", []span{at("a", 0, 10)}, ""},
		{"together", []span{at("a", 0, 10), at("b", 1, 9)}, ""},
		{"one within another's, then a third", []span{at("a", 0, 20), at("b", 1, 2), at("c", 15, 20)}, ""},
		{"no more apart than is known", []span{at("a", 0, 10), at("b", 12, 20)}, ""},
		{"one after another", []span{at("a", 0, 10), at("b", 0, 11), at("c", 90, 100)}, `host "c" began 1m19s after`},
	} {
		if got := Apart(c.spans, time.Second); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSkewed(t *testing.T) {
	at := func(host string, start int) span {
		return span{host: host, start: time.UnixMilli(int64(start)), end: time.UnixMilli(20000)}
	}
	for _, c := range []struct {
		spans []span
		want  string
	}{
		{[]span{at("a", 0)}, ""},
		{[]span{at("a", 0), at("a", 5000)}, ""},
		{[]span{at("b", 0), at("a", 1500)}, ""},
		{[]span{at("b", 0), at("a", 3000)}, `host "b" began 3.0 s before host "a": `},
		{[]span{at("b", 0), at("c", 1000), at("b", 2000), at("a", 2500), at("c", 9000)}, "FIO2ES_OFFSET=b=2500 (milliseconds)"},
	} {
		if got := Skewed(c.spans, 200*time.Millisecond); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.spans, got, c.want)
		}
	}
}
