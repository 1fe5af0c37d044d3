package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// outAndErr runs a command that must end with this exit code.
func outAndErr(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	if got := run(context.Background(), args, strings.NewReader(""), &out, &errs); got != code {
		t.Errorf("%v: exit code %d, want %d: %s", args, got, code, errs.String())
	}
	return out.String(), errs.String()
}

// outputOf runs a command that must succeed, and returns its stdout.
func outputOf(t *testing.T, args ...string) string {
	t.Helper()
	out, _ := outAndErr(t, 0, args...)
	return out
}

// callWith is like outputOf, with a settings file.
func callWith(t *testing.T, settings string, args ...string) string {
	t.Helper()
	return outputOf(t, slices.Insert(slices.Clone(args), 1, "--config", settings)...)
}

func expect(t *testing.T, what, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("%s: no %q in:\n%s", what, w, text)
		}
	}
}

// linesOf runs a command and decodes the JSON lines of its output.
func linesOf[T any](t *testing.T, code int, args ...string) []T {
	t.Helper()
	out, _ := outAndErr(t, code, append(args, "--format", "json")...)
	return decoded[T](t, out)
}

func decoded[T any](t *testing.T, text string) (list []T) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var v T
		check(t, d.Decode(&v))
		list = append(list, v)
	}
	return list
}
