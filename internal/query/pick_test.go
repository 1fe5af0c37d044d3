package query

import (
	"fmt"
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
		wanted, err := c.pick.Compile()
		if err != nil {
			t.Fatal(err)
		}
		if got := wanted("a", c.name[2:]); got != c.want {
			t.Errorf("%+v: %s: %v", c.pick, c.name, got)
		}
	}
}

// TestShards: each run is in exactly one part, and the parts have similar sizes.
func TestShards(t *testing.T) {
	const parts, runs = 3, 3000
	counts := [parts]int{}
	for run := range runs {
		in := 0
		for i := range parts {
			wanted, err := Pick{Shard: fmt.Sprintf("%d/%d", i+1, parts)}.Compile()
			if err != nil {
				t.Fatal(err)
			}
			if wanted("archive", fmt.Sprintf("results/%08d/id-0000000a", run)) {
				in++
				counts[i]++
			}
		}
		if in != 1 {
			t.Fatalf("run %d is in %d parts", run, in)
		}
	}
	for i, n := range counts {
		if n < runs/parts*8/10 || n > runs/parts*12/10 {
			t.Errorf("part %d has %d of %d runs", i+1, n, runs)
		}
	}
	for _, wrong := range []string{"0/3", "4/3", "x/3", "3", "1/0"} {
		if _, err := (Pick{Shard: wrong}).Compile(); err == nil {
			t.Errorf("%s: no error", wrong)
		}
	}
}
