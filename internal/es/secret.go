package es

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// redacted replaces a secret.
const redacted = "[redacted]"

// Secret is a password or key. Printed, formatted, logged or marshaled, it shows only whether it is set. string(s)
// is the secret itself.
type Secret string

// String returns a text that says only whether the secret is set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// Format implements [fmt.Formatter], because verbs such as %x do not call String.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = strconv.Quote(text)
	}
	_, _ = io.WriteString(f, text) // Format has no way to report the error
}

// MarshalText implements [encoding.TextMarshaler]. The text does not contain the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// hide removes secrets from a text that another program wrote, such as a proxy that repeats requests. It skips very
// short secrets, because they are parts of ordinary words.
func hide(text string, secrets ...Secret) string {
	const short = 4
	for _, s := range secrets {
		if len(s) >= short {
			text = strings.ReplaceAll(text, string(s), redacted)
		}
	}
	return text
}
