package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// outAndErr runs a command that must end with an exit code.
func outAndErr(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	if got := run(context.Background(), args, strings.NewReader(""), &out, &errs); got != code {
		t.Errorf("%v: exit code %d, want %d: %s", args, got, code, errs.String())
	}
	return out.String(), errs.String()
}

// outputOf is what a command writes to stdout that must end well.
func outputOf(t *testing.T, args ...string) string {
	t.Helper()
	out, _ := outAndErr(t, 0, args...)
	return out
}

// callWith is outputOf with a file of settings.
func callWith(t *testing.T, settings string, args ...string) string {
	t.Helper()
	return outputOf(t, append([]string{"--config", settings}, args...)...)
}

// expect looks for texts.
func expect(t *testing.T, what, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("%s: no %q in:\n%s", what, w, text)
		}
	}
}

// linesOf are the lines of JSON of a command.
func linesOf[T any](t *testing.T, code int, args ...string) []T {
	t.Helper()
	out, _ := outAndErr(t, code, append(args, "--format", "json")...)
	return decoded[T](t, out)
}

// decoded are the values of a text of JSON.
func decoded[T any](t *testing.T, text string) (list []T) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var v T
		check(t, d.Decode(&v))
		list = append(list, v)
	}
	return list
}
