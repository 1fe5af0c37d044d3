package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
)

var (
	//go:embed site.css
	siteCSS string
	//go:embed site.html
	siteHTML string
	//go:embed workloads.html
	workloadsHTML string
	//go:embed matrix.html
	matrixHTML string
)

// style is the style sheet of all pages.
func style() template.CSS { return report.Style() + template.CSS(siteCSS) }

// templates are parsed at first use, because otherwise all commands would start slower.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("site").Funcs(template.FuncMap{
		"style": style, "live": report.Live, "script": report.Script, "nav": report.Nav,
	}).Parse(siteHTML + workloadsHTML + matrixHTML + report.PartsHTML))
})

// unframed keeps other sites from showing pages in frames, in which users could be tricked into clicks. Browsers
// accept this rule only in headers.
const unframed = "; frame-ancestors 'none'"

// Head is the data that all pages need.
type Head struct {
	Title     string
	Home      string    // address of the list
	Name      string    // name of the history
	Condition condition // on the runs of the page; links to other pages keep it
	Program   string
	Live      bool // the page shows what the history gets
}

func (s *site) head(r *http.Request, title string) Head {
	return Head{Title: title, Home: homeOf(r), Name: s.Name, Condition: parseCondition(r.URL.Query().Get("where")), Program: s.Program}
}

func (s *site) show(w http.ResponseWriter, r *http.Request, status int, name string, view any) {
	var page bytes.Buffer
	if err := templates().ExecuteTemplate(&page, name, view); err != nil {
		s.Log.Error("make a page", "page", r.URL.RequestURI(), "err", err)
		http.Error(w, "this page cannot be made", http.StatusInternalServerError)
		return
	}
	if status == http.StatusOK && isKnown(w, r, contentTag(page.Bytes())) {
		return // browsers ask for the list every two seconds
	}
	s.send(w, r, status, page.Bytes())
}

// contentTag returns the ETag of a finished page.
func contentTag(page []byte) string {
	sum := sha256.Sum256(page)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// send answers with a finished page.
func (s *site) send(w http.ResponseWriter, r *http.Request, status int, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	if _, err := w.Write(page); err != nil {
		s.Log.Debug("the browser closed the connection", "page", r.URL.RequestURI(), "err", err)
	}
}

// notify answers with a page that says what is wrong and what to do.
func (s *site) notify(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	s.show(w, r, status, "notice", struct {
		Head
		Text string
	}{s.head(r, title), text})
}

// homeOf returns the address of the list, relative to the requested page.
func homeOf(r *http.Request) string {
	if depth := strings.Count(r.URL.Path, "/") - 1; depth > 0 {
		return strings.Repeat("../", depth)
	}
	return "./"
}

func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case r.Context().Err() == context.Canceled:
		s.Log.Debug("the browser closed the connection", "page", r.URL.RequestURI())
	case errors.Is(err, context.DeadlineExceeded):
		w.Header().Set("Retry-After", "60")
		s.notify(w, r, http.StatusServiceUnavailable, "Timeout", "There are too many requests, or the history does not answer. Try again, or with fewer runs.")
	case errors.Is(err, history.ErrBusy):
		w.Header().Set("Retry-After", "10")
		s.notify(w, r, http.StatusServiceUnavailable, "The history is busy", err.Error()+". Try again.")
	case errors.As(err, new(query.RunError)): // such as a run without requests
		s.notify(w, r, http.StatusUnprocessableEntity, "Nothing to show", err.Error())
	default:
		s.Log.Error("cannot answer", "page", r.URL.RequestURI(), "err", err)
		s.notify(w, r, http.StatusInternalServerError, "Cannot read the history", err.Error())
	}
}
