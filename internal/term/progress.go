package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Progress is a line at the bottom of a terminal that says what the program does. Without a terminal it writes
// nothing. Several goroutines may use it.
type Progress struct {
	w     io.Writer // nil without a terminal
	mu    sync.Mutex
	shown time.Time
	dirty bool
}

// refresh is the shortest time between two updates: often enough to see progress, and rare enough to cost nothing.
const refresh = 100 * time.Millisecond

// IsTerminal reports whether a file is a terminal. If so, it makes the terminal act on escapes.
func IsTerminal(f *os.File) bool {
	if !term.IsTerminal(int(f.Fd())) {
		return false
	}
	allowEscapes(f)
	return true
}

// NewProgress returns a progress line on f, if f is a terminal.
func NewProgress(f *os.File) *Progress {
	if f == nil || !IsTerminal(f) {
		return &Progress{}
	}
	return &Progress{w: f}
}

// Show replaces the line, at most ten times per second.
func (p *Progress) Show(format string, args ...any) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.shown) < refresh {
		return
	}
	p.shown, p.dirty = time.Now(), true
	text := Clean(fmt.Sprintf(format, args...))
	if f, ok := p.w.(*os.File); ok { // a line that wraps could not be removed
		if columns, _ := size(f); columns > 0 {
			text = Shorten(text, columns-1)
		}
	}
	fmt.Fprint(p.w, "\r\x1b[K"+text)
}

// Clear removes the line, so that something else can be written.
func (p *Progress) Clear() {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dirty {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.dirty = false
	}
}

// Bar draws a bar of columns characters, filled to a share (0 … 1).
func Bar(share float64, columns int) string {
	n := int(min(max(share, 0), 1)*float64(columns) + 0.5)
	return "[" + strings.Repeat("=", n) + strings.Repeat(" ", columns-n) + "]"
}
