package term

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

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
	held     *alike.List[struct{}] // lines to be written at the end; nil: all are written at once
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
	if isHeld := r.Level == slog.LevelWarn || strings.HasPrefix(r.Message, "note: "); h.held != nil && isHeld {
		h.held.Add(line, struct{}{})
		return nil
	}
	if h.held != nil && r.Level >= slog.LevelError {
		h.release()
	}
	return h.write(line)
}

// write writes a line. It needs the lock.
func (h *LogHandler) write(line string) error {
	if h.progress != nil {
		h.progress.Clear()
		if f, ok := h.progress.w.(*os.File); ok {
			line = FillFor(&Screen{f: f}, line)
		}
	}
	_, err := io.WriteString(h.w, line+"\n")
	return err
}

// Hold keeps warnings and notes for Release.
func (h *LogHandler) Hold() { h.held = &alike.List[struct{}]{Shown: 1} }

// Release writes what was held: one message of each kind, with the number of the others, because thousands of runs may
// have the same fault.
func (h *LogHandler) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held != nil {
		h.release()
	}
}

func (h *LogHandler) release() {
	h.held.Each(func(message string, _ struct{}, more int) { _ = h.write(alike.And(message, more)) })
	*h.held = alike.List[struct{}]{Shown: 1}
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
