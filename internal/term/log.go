package term

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/fio2es/fio2es/internal/alike"
)

// LogHandler writes log records as lines for people: "warning: message key=value". It first clears the progress
// line. It breaks lines that are longer than the terminal is wide.
type LogHandler struct {
	w        io.Writer
	level    slog.Level
	progress *Progress
	attrs    string
	mu       *sync.Mutex
	counter  *alike.Counter // nil: all messages are written
}

// NewLogHandler returns a handler that writes records of at least this level to w. progress may be nil.
func NewLogHandler(w io.Writer, level slog.Level, progress *Progress) *LogHandler {
	return &LogHandler{w: w, level: level, progress: progress, mu: &sync.Mutex{}}
}

// Enabled implements [slog.Handler].
func (h *LogHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// Handle implements [slog.Handler].
func (h *LogHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	switch {
	case r.Level >= slog.LevelError:
		b.WriteString("error: ")
	case r.Level >= slog.LevelWarn:
		b.WriteString("warning: ")
	case r.Level < slog.LevelInfo:
		b.WriteString("debug: ")
	}
	b.WriteString(Clean(r.Message))
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(attr(a))
		return true
	})
	line := b.String()
	h.mu.Lock()
	defer h.mu.Unlock()
	if isAlike := r.Level == slog.LevelWarn || strings.HasPrefix(r.Message, "note: "); h.counter != nil && isAlike && !h.counter.Add(line) {
		return nil
	}
	if h.progress != nil {
		h.progress.Clear()
		if f, ok := h.progress.w.(*os.File); ok {
			if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && utf8.RuneCountInString(line) > columns {
				line = strings.Join(Fill(line, columns), "\n")
			}
		}
	}
	_, err := io.WriteString(h.w, line+"\n")
	return err
}

// LimitAlike lets only the first ten warnings and notes of a kind be written, because thousands of runs may have the same
// fault.
func (h *LogHandler) LimitAlike() { h.counter = &alike.Counter{} }

// Rest writes how many messages were not written.
func (h *LogHandler) Rest() {
	if h.counter == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counter.More(func(kind string, n int) { fmt.Fprintf(h.w, "and %d more like this: %s\n", n, kind) })
	h.counter = &alike.Counter{}
}

// WithAttrs implements [slog.Handler].
func (h *LogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	for _, a := range attrs {
		c.attrs += attr(a)
	}
	return &c
}

// WithGroup implements [slog.Handler]. It ignores groups.
func (h *LogHandler) WithGroup(string) slog.Handler { return h }

func attr(a slog.Attr) string {
	v := a.Value.Resolve().String()
	if quoted := Clean(v); quoted != v {
		v = "\"" + quoted + "\""
	} else if v == "" || strings.ContainsAny(v, " \t\n\"=") {
		v = fmt.Sprintf("%q", v)
	}
	return " " + Clean(a.Key) + "=" + v
}
