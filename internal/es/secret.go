package es

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
)

// redacted is what is shown of a secret.
const redacted = "[redacted]"

// Secret is a password or key. Whatever prints, formats, logs or marshals it shows only
// that it is set; string(s) is the text itself.
type Secret string

// String tells whether the secret is set, not what it is.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString implements [fmt.GoStringer].
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// Format implements [fmt.Formatter], for verbs that would not ask String, such as %x.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	_, _ = io.WriteString(f, text) // Format has no way to report it
}

// MarshalText implements [encoding.TextMarshaler]; it loses the secret on purpose.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue implements [slog.LogValuer].
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// hide takes the secrets out of a text that came from elsewhere, such as a proxy that
// repeats what it was sent. Very short ones would tear ordinary words apart.
func hide(text string, secrets ...Secret) string {
	const short = 4
	for _, s := range secrets {
		if len(s) >= short {
			text = strings.ReplaceAll(text, string(s), redacted)
		}
	}
	return text
}
