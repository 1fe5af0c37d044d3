package es

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"unicode/utf8"
)

// FuzzReadError: for any answer of a server or a proxy, the error has its status and a bounded
// length.
func FuzzReadError(f *testing.F) {
	f.Add(400, "application/json", []byte(`{"error":{"type":"x","reason":"y","index":"z","caused_by":{"reason":"w"}}}`))
	f.Add(403, "application/json", []byte(`{"error":"text","failures":[{"cause":{"type":"a"}}]}`))
	f.Add(409, "", []byte(`{"failures":[{"index":null,"cause":null}]}`))
	f.Add(502, "text/html", []byte("<html><TITLE a=b>\nBad\x1b Gateway</title>"))
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte) {
		res := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewReader(body))}
		e := readError(res, Config{}, func(text string) string { return text })
		if n := utf8.RuneCountInString(e.Reason); e.Status != status || n > 10_000 || e.Error() == "" {
			t.Errorf("status %d, %d characters", e.Status, n)
		}
	})
}
