package query

import (
	"testing"
)

func TestPick(t *testing.T) {
	for _, c := range []struct {
		pick Pick
		name string
		want bool
	}{
		{Pick{}, "a:results/x", true},
		{Pick{Include: []string{"rand*4k"}}, "a:results/randwrite/op_4k", true},
		{Pick{Include: []string{"rand*4k"}}, "a:results/write/op_4k", false},
		{Pick{Include: []string{"x", "y"}, Exclude: []string{"z"}}, "a:y/z", false},
		{Pick{Exclude: []string{"a:*"}}, "a:y", false},
		{Pick{Include: []string{"("}}, "a:(y", true},
	} {
		if got := c.pick.Compile()("a", c.name[2:]); got != c.want {
			t.Errorf("%+v: %s: %v", c.pick, c.name, got)
		}
	}
}
