package elastic

import (
	"strings"
	"testing"
)

// FuzzReadRejects: each line that is not blank is a reject with an action and a document, or an error.
func FuzzReadRejects(f *testing.F) {
	f.Add("{\"action\":{\"index\":{\"_id\":\"a\"}},\"document\":{\"level\":\"host\"},\"reason\":{\"status\":400,\"type\":\"x\"}}\n")
	f.Add("{\"action\":{},\"document\":null}\n\n{\"action\"")
	f.Add("null\n[]\n\"\"\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines, came := 0, 0
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		for r, err := range ReadRejects([]byte(text)) {
			if came++; err == nil && (len(r.Action) == 0 || len(r.Document) == 0) {
				t.Errorf("%+v", r)
			}
		}
		if came != lines {
			t.Errorf("%d rejects and errors, %d lines", came, lines)
		}
	})
}
