package live

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/window"
)

// Screen shows a live run on a terminal. It is a writer of messages. Messages are printed after the terminal is restored.
type Screen struct {
	view    *View
	display *term.Display
	stderr  io.Writer

	mu     sync.Mutex
	held   bytes.Buffer
	closed bool
	ended  chan struct{}
}

// NewScreen shows a view on a terminal until Close is called. Messages go to stderr after that.
func NewScreen(terminal *os.File, stderr io.Writer, view *View) *Screen {
	s := &Screen{view: view, display: term.NewDisplay(terminal), stderr: stderr, ended: make(chan struct{})}
	signals := make(chan os.Signal, 1)
	if term.Resized != nil {
		signal.Notify(signals, term.Resized, term.Stopped)
	}
	s.draw()
	go func() {
		defer signal.Stop(signals)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for ; ; s.draw() {
			select {
			case <-ticker.C:
			case sig := <-signals:
				if sig == term.Stopped {
					s.suspend()
				}
			case <-s.ended:
				return
			}
		}
	}()
	return s
}

func (s *Screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	columns, lines := s.display.Size()
	text, err := s.view.Lines(time.Now(), Size{Columns: columns, Lines: lines, Colour: term.HasColour()})
	if err == nil {
		err = s.display.Show(text)
	}
	if err != nil { // without the screen, because the run does not depend on it
		s.view.Message = err.Error()
	}
}

// suspend restores the terminal and stops the program, as Ctrl-Z does. fio continues.
func (s *Screen) suspend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.display.Close()
	_ = term.Suspend()
}

// Window shows a window of a stage.
func (s *Screen) Window(w *window.Window, stage Stage) error {
	s.mu.Lock()
	err := s.view.Add(w, stage, time.Now())
	s.mu.Unlock()
	s.draw()
	return err
}

// Write keeps a message for the end, and shows it on the screen.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.stderr.Write(text)
	}
	if message := strings.TrimSpace(string(text)); !strings.Contains(message, "sla ") && !strings.HasPrefix(message, "following ") {
		s.view.Message = message // without these parts, because the view shows the rules and the run itself
	}
	return s.held.Write(text)
}

// Close restores the terminal and prints the messages. It may be called several times.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	close(s.ended)
	s.display.Close()
	_, _ = s.stderr.Write(s.held.Bytes())
}
