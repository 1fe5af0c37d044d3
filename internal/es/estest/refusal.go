package estest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// refusal is an error that becomes the answer.
type refusal struct {
	status int
	body   map[string]any
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %v", r.status, r.body) }

func no(status int, kind, reason string) error {
	return &refusal{status, failure(status, kind, reason)}
}

// unknown returns an error for something that the stand-in does not support.
func unknown(format string, args ...any) error {
	return no(http.StatusBadRequest, "parsing_exception", fmt.Sprintf(format, args...))
}

// strict decodes JSON. It keeps all digits, and an unknown key is an error.
func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return unknown("%v in %.200s", err, text)
	}
	return nil
}

// failure returns the body of an error.
func failure(status int, kind, reason string) map[string]any {
	cause := map[string]any{"type": kind, "reason": reason}
	return map[string]any{
		"error":  map[string]any{"root_cause": []any{cause}, "type": kind, "reason": reason},
		"status": status,
	}
}

func fail(w http.ResponseWriter, status int, kind, reason string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(failure(status, kind, reason))
}

func writePage(w http.ResponseWriter, status int) {
	w.Header().Del("X-Elastic-Product")
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, page, fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
