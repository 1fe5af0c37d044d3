package es_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
