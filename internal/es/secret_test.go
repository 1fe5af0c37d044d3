package es_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
)

const password = "correct-horse-battery"

// TestSecretsStayHidden prints types with a secret in all ways that Go has.
func TestSecretsStayHidden(t *testing.T) {
	config := es.Config{Username: "elastic", Password: password, APIKey: ""}
	client, err := es.New(es.Config{Addresses: []string{"https://elastic:" + password + "@localhost:9200"}})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, v := range []any{config, &config, client, config.Password, []es.Secret{password}, struct{ P any }{config.Password}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%10.3s"} {
			texts = append(texts, fmt.Sprintf(verb, v))
		}
	}
	text, err := json.Marshal(config.Password)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", config, "password", config.Password)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", config, "password", config.Password)
	texts = append(texts, string(text), log.String(), config.Password.String())
	hex := fmt.Sprintf("%x", password)
	for _, text := range texts {
		if strings.Contains(text, password) || strings.Contains(strings.ToLower(text), hex) {
			t.Errorf("%s shows the password", text)
		}
	}
	if got := fmt.Sprint(config.Password); got != "[redacted]" {
		t.Errorf("a password shows as %q", got)
	}
	if got := fmt.Sprintf("%s|%v|%#v", es.Secret(""), es.Secret(""), es.Secret("")); got != `||""` {
		t.Errorf("no password shows as %s", got)
	}
	if string(config.Password) != password {
		t.Error("the password is lost")
	}
}

// TestErrorsHideSecrets: secrets are not in errors of settings or connections, and not in the text of a proxy that
// repeats them.
func TestErrorsHideSecrets(t *testing.T) {
	var failures []error
	for _, c := range []es.Config{
		{Addresses: []string{"https://u:" + password + "@host:bad"}},
		{Addresses: []string{"https://u:" + password + "@"}},
		{Addresses: []string{"http://u:" + password + "@es.example.org:9200"}},
		{Addresses: []string{"https://u:" + password + "@a", "https://v:" + password + "@b"}},
		{Addresses: []string{"ftp://u:" + password + "@host"}},
		{Addresses: []string{"u:" + password + "@host:9200"}},
		{Addresses: []string{"https:u:" + password + "@host:9200"}},
		{Addresses: []string{"https:/u:" + password + "@host"}},
		{Addresses: []string{"https://u:" + password}},
		{Addresses: []string{"https://u:" + password + "#x@host:9200"}},
		{APIKey: password, Username: "u", Password: password},
		{Password: password},
	} {
		if _, err := es.New(c); !errors.Is(err, es.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		} else {
			failures = append(failures, err)
		}
	}
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, pass, _ := r.BasicAuth()
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, "no access for %s with %s", user, pass)
	}))
	defer echo.Close()
	for _, address := range []string{echo.URL, "http://127.0.0.1:1"} {
		client, err := es.New(es.Config{Addresses: []string{address}, Username: "u", Password: password, GiveUpAfter: -1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Check(context.Background())
		failures = append(failures, err)
	}
	for _, err := range failures {
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), password) {
			t.Errorf("%v", err)
		}
	}
}

// TestEchoedCredentials: a server repeats the credentials in any encoding, in any part of its answer. The error has neither
// them nor a text that becomes them.
func TestEchoedCredentials(t *testing.T) {
	const hard = `ho"r<s>e/ba+t&ery %x\ä`
	hexOf := func(s string) string { return hex.EncodeToString([]byte(s)) }
	quoted := func(s string) string {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Trim(string(text), `"`)
	}
	encodings := map[string]func(string) string{
		"plain": func(s string) string { return s }, "upper": strings.ToUpper, "query": url.QueryEscape, "path": url.PathEscape, "json": quoted,
		"base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }, "base64 url": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"hex": hexOf, "HEX": func(s string) string { return strings.ToUpper(hexOf(s)) }, "html": html.EscapeString, "go": strconv.QuoteToASCII,
		"json twice": func(s string) string { return quoted(quoted(s)) }, "query twice": func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
		"json, query": func(s string) string { return url.QueryEscape(quoted(s)) },
	}
	answers := map[string]func(w http.ResponseWriter, text string){
		"text": func(w http.ResponseWriter, text string) { w.WriteHeader(401); fmt.Fprint(w, text) },
		"page": func(w http.ResponseWriter, text string) {
			w.WriteHeader(502)
			fmt.Fprintf(w, "<html><title>%s</title>", text)
		},
		"json": func(w http.ResponseWriter, text string) {
			w.WriteHeader(400)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"type": "x", "reason": "y: " + text}})
		},
		"type": func(w http.ResponseWriter, text string) {
			w.WriteHeader(400)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"type": text}})
		},
		"redirect": func(w http.ResponseWriter, text string) {
			w.Header().Set("Location", "/"+url.QueryEscape(text))
			w.WriteHeader(302)
		},
		"long": func(w http.ResponseWriter, text string) {
			w.WriteHeader(401)
			fmt.Fprint(w, strings.Repeat("x", 990), " ", text)
		},
	}
	key := base64.StdEncoding.EncodeToString([]byte("id7:" + password))
	for _, c := range []struct {
		config  es.Config
		secrets []string
	}{
		{es.Config{Username: "u", Password: password}, []string{password}}, {es.Config{Username: "u", Password: hard}, []string{hard}},
		{es.Config{APIKey: es.Secret(key)}, []string{key, password}},
	} {
		var answer func(http.ResponseWriter, *http.Request)
		echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
		defer echo.Close()
		c.config.Addresses, c.config.GiveUpAfter = []string{echo.URL}, -1
		client, err := es.New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		for how, encode := range encodings {
			for where, write := range answers {
				for _, what := range append(c.secrets, "") {
					answer = func(w http.ResponseWriter, r *http.Request) {
						text := what
						if what == "" {
							text = r.Header.Get("Authorization")
						}
						write(w, "header "+encode(text)+" of "+encode("Authorization: "+text))
					}
					_, err := client.Check(context.Background())
					if err == nil {
						t.Fatalf("%s %s: no error", how, where)
					}
					for _, s := range append(c.secrets, base64.StdEncoding.EncodeToString([]byte("u:"+string(c.config.Password)))) {
						for name, form := range encodings {
							if strings.Contains(err.Error(), form(s)) {
								t.Errorf("%s in a %s: %v has the secret as %s", how, where, err, name)
							}
						}
					}
				}
			}
		}
	}
}

// TestOrdinaryErrorsStay: what is no secret is not redacted.
func TestOrdinaryErrorsStay(t *testing.T) {
	client, err := es.New(es.Config{Username: "u", Password: password})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "no such index [fio-runs-2026.11]", "5f3759df0badc0ffee", "aGVsbG8gd29ybGQ=", "Basic authentication is required", "horse"} {
		if got := client.Redact(text); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}
