package alike

import (
	"fmt"
	"testing"
)

func TestCounter(t *testing.T) {
	var c Counter
	kept := map[string]int{}
	for i := range 100_000 {
		if c.Add(fmt.Sprintf("a/x%d.log: link is not followed", i)) {
			kept["link"]++
		}
		if i < 11 && c.Add(fmt.Sprintf("%d: is empty", i)) {
			kept["empty"]++
		}
	}
	var more []string
	c.More(func(kind string, n int) { more = append(more, fmt.Sprintf("%s: %d", kind, n)) })
	if kept["link"] != 10 || kept["empty"] != 10 || fmt.Sprint(more) != "[link is not followed: 99990 is empty: 1]" {
		t.Errorf("kept %v, more %q", kept, more)
	}
}

func TestCounterOfManyKinds(t *testing.T) {
	var c Counter
	for i := range 100_000 {
		word := []rune{}
		for n := i; n > 0; n /= 26 {
			word = append(word, rune('a'+n%26))
		}
		c.Add(string(word))
	}
	if len(c.seen) > maxKinds+1 {
		t.Errorf("%d kinds", len(c.seen))
	}
}
