package es

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/late"
)

// redactor removes the credentials of a client from texts that a server or a proxy wrote.
type redactor struct {
	forms *regexp.Regexp // in which a server can repeat them; nil: there are none
}

func newRedactor(c *Config) redactor {
	const least = 4 // shorter secrets are parts of ordinary words
	var secrets []string
	add := func(s string) {
		if len(s) >= least {
			secrets = append(secrets, s)
		}
	}
	add(string(c.APIKey))
	add(string(c.Password))
	if pair, err := base64.StdEncoding.DecodeString(string(c.APIKey)); err == nil {
		_, key, _ := strings.Cut(string(pair), ":")
		add(key)
	}
	if len(secrets) == 0 {
		return redactor{}
	}
	var forms []string
	for _, s := range append(secrets, base64.StdEncoding.EncodeToString([]byte(c.Username+":"+string(c.Password)))) {
		s = strings.TrimRight(s, "=")
		for _, form := range []string{
			s, fmt.Sprintf("%q", s), fmt.Sprintf("%+q", s), inJSON(s), inJSON(inJSON(s)), html.EscapeString(s), url.PathEscape(s), url.QueryEscape(s),
		} {
			form = strings.Trim(form, `"`)
			forms = append(forms, regexp.QuoteMeta(form), regexp.QuoteMeta(url.QueryEscape(form)))
		}
	}
	// The longest first, because one may begin another.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return redactor{regexp.MustCompile("(?i)(?:" + strings.Join(forms, "|") + ")(?:=|%3D|%253D)*")}
}

// inJSON is a text as it is within a string of JSON.
func inJSON(s string) string {
	text, _ := json.Marshal(s) // cannot fail
	return string(text[1 : len(text)-1])
}

// coded matches what may be base64 or has a hexadecimal number.
var (
	coded       = late.Regexp(`[\w+/-]+=*`)
	hexadecimal = late.Regexp(`[[:xdigit:]]+`)
)

// redact returns a text without the credentials: in all forms, and within base64 and hexadecimal numbers.
func (r *redactor) redact(text string) string {
	const longest = 16 << 10 // bytes of a text that can be for people
	if r.forms == nil || text == "" {
		return text
	}
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	text = r.forms.ReplaceAllLiteralString(text, redacted)
	return coded().ReplaceAllStringFunc(text, func(word string) string {
		const most = 3 // times that a secret is encoded: the header has base64 already
		if r.encodes(word, most) {
			return redacted
		}
		return word
	})
}

// encodes reports whether a word is an encoding of a text with a secret. The secret may begin at any character of it.
func (r *redactor) encodes(word string, most int) bool {
	const least = 4
	if len(word) <= least || most == 0 {
		return false
	}
	var texts []string
	add := func(text []byte, _ error) { texts = append(texts, string(text)) } // what could be decoded counts
	plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(word, "="))
	for skip := range 4 {
		add(base64.RawStdEncoding.DecodeString(plain[min(skip, len(plain)):]))
	}
	for _, digits := range hexadecimal().FindAllString(word, -1) {
		add(hex.DecodeString(digits))
		add(hex.DecodeString(digits[1:]))
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		return r.forms.MatchString(text) || slices.ContainsFunc(coded().FindAllString(text, -1), func(word string) bool { return r.encodes(word, most-1) })
	})
}

// Redact returns a text of the server without the credentials of the client.
func (c *Client) Redact(text string) string { return c.secrets.redact(text) }
