package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// patient is the time limit of each wait, long enough for a busy machine.
const patient = 2 * time.Minute

// chromium is a browser without a window. It gets commands of the DevTools protocol through a pipe, one at a time.
type chromium struct {
	t        *testing.T
	commands io.Writer
	messages chan message // closed when the browser ends
	sent     int
}

// message is an answer of the browser, or an event. Events have no ID.
type message struct {
	ID     int
	Result json.RawMessage
	Error  *struct{ Message string }
}

// startChromium starts the browser that the environment names. It stops with the test.
func startChromium(t *testing.T) *chromium {
	t.Helper()
	program := os.Getenv("FIO2ES_TEST_CHROMIUM")
	if program == "" {
		t.Skip("FIO2ES_TEST_CHROMIUM names no browser; .ci/chromium does")
	}
	dir, err := os.MkdirTemp("", "fio2es-chromium-")
	must(t, err)
	theirs, commands, err := os.Pipe()
	must(t, err)
	answers, theirAnswers, err := os.Pipe()
	must(t, err)
	var errs bytes.Buffer
	cmd := exec.Command(program,
		"--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
		"--disable-extensions", "--disable-dev-shm-usage", "--window-size=1000,700", "--user-data-dir="+dir)
	cmd.Env = append(os.Environ(), "TZ=UTC", "HOME="+dir)
	cmd.Stderr, cmd.ExtraFiles = &errs, []*os.File{theirs, theirAnswers} // file descriptors 3 and 4
	// otherwise Wait waits for children that keep stderr open
	cmd.WaitDelay = 10 * time.Second
	must(t, cmd.Start())
	theirs.Close()
	theirAnswers.Close()
	b := &chromium{t: t, commands: commands, messages: make(chan message)}
	go func() {
		defer close(b.messages)
		for s := bufio.NewReader(answers); ; {
			text, err := s.ReadBytes(0)
			if err != nil {
				return
			}
			var m message
			if err := json.Unmarshal(text[:len(text)-1], &m); err == nil && m.ID > 0 {
				b.messages <- m
			}
		}
	}()
	t.Cleanup(func() {
		commands.Close() // this ends the browser
		for range b.messages {
		}
		if err := cmd.Wait(); t.Failed() {
			t.Logf("Chromium: %v\n%s", err, errs.Bytes())
		}
		_ = os.RemoveAll(dir) // children of the browser may still write there
	})
	return b
}

// do sends a command to the browser, or to one of its pages (session), and decodes the result. An error of the
// browser is returned.
func (b *chromium) do(session, method string, parameters map[string]any, into any) error {
	b.t.Helper()
	b.sent++
	command := map[string]any{"id": b.sent, "method": method, "params": parameters}
	if session != "" {
		command["sessionId"] = session
	}
	text, err := json.Marshal(command)
	must(b.t, err)
	_, err = b.commands.Write(append(text, 0))
	must(b.t, err)
	select {
	case m, ok := <-b.messages:
		if !ok || m.ID != b.sent {
			b.t.Fatalf("%s: %t, %+v", method, ok, m)
		}
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		must(b.t, json.Unmarshal(m.Result, into))
	case <-time.After(patient):
		b.t.Fatalf("%s: no answer", method)
	}
	return nil
}

// tab is a page in its own window, because a page that is not visible does not listen to events.
type tab struct {
	b       *chromium
	session string
}

func (b *chromium) open(address string) *tab {
	b.t.Helper()
	var target struct{ TargetID string }
	must(b.t, b.do("", "Target.createTarget", map[string]any{"url": address, "newWindow": true}, &target))
	var attached struct{ SessionID string }
	must(b.t, b.do("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached))
	return &tab{b, attached.SessionID}
}

// value returns the value of a JavaScript expression as text. If the page is not loaded yet, it returns the text of
// an error.
func (p *tab) value(expression string) string {
	p.b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	if err := p.b.do(p.session, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer); err != nil {
		return err.Error()
	}
	if e := answer.ExceptionDetails; e != nil {
		return e.Exception.Description
	}
	return fmt.Sprint(answer.Result.Value)
}

// is waits until an expression has a value.
func (p *tab) is(want, expression string) {
	p.b.t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		got := p.value(expression)
		if got == want {
			return
		}
		if time.Since(began) > patient {
			p.b.t.Fatalf("%s: %s, want %s", expression, got, want)
		}
	}
}

// stays fails if an expression has another value now.
func (p *tab) stays(want, expression string) {
	p.b.t.Helper()
	if got := p.value(expression); got != want {
		p.b.t.Errorf("%s: %s, want %s", expression, got, want)
	}
}
