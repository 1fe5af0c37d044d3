// Package alert reports the rules that live runs break: to a log, to Alertmanager, which groups, silences and sends
// alerts, and to a program. Nothing here waits for any of them but [Sender.Close].
package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/mapping"
)

// Times of alerts. Alertmanager takes an alert that is not posted again for resolved, also if this program was killed.
const (
	every      = time.Minute      // between two posts of an alert
	ahead      = 4 * time.Minute  // how long Alertmanager keeps an alert after a post
	mostTime   = 10 * time.Second // for a request, and for a call of the program
	lastPost   = time.Second      // for requests after Close
	mostQueued = 1000             // changes that wait to be sent
)

// Options says where alerts go.
type Options struct {
	Alertmanager string // its address; empty: none
	Exec         string // a program; empty: none
	Log          *slog.Logger
	Link         func(*mapping.RunInfo) string // address of a page of a live run; nil: none is known
	Transport    http.RoundTripper             // to Alertmanager; nil: the default
}

// Sender sends the alerts of all runs that a program follows. A nil Sender sends nothing.
type Sender struct {
	opt                Options
	posts              chan change
	calling            context.Context // of the program
	endPosts, endCalls context.CancelFunc
	sending            sync.WaitGroup

	mu     sync.Mutex
	called <-chan struct{} // the last call of the program has ended
}

// change is an alert that begins or ends.
type change struct {
	state   string // fired, resolved; or forgotten, because it is not watched any more
	message message
}

// message is an alert as version 2 of Alertmanager's API has it. Labels say which alert it is.
type message struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt,omitzero"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

// NewSender returns a sender, which must be closed. It is nil if there is nowhere to send to.
func NewSender(opt Options) *Sender {
	if opt.Alertmanager == "" && opt.Exec == "" {
		return nil
	}
	s := &Sender{opt: opt, posts: make(chan change, mostQueued)}
	s.calling, s.endCalls = context.WithCancel(context.Background())
	posting, end := context.WithCancel(context.Background())
	s.endPosts = end
	s.sending.Go(func() { s.post(posting) })
	return s
}

// Close sends what is left: to Alertmanager for a second, and to the program for as long as one call may take. All watches must have
// ended.
func (s *Sender) Close() {
	if s == nil {
		return
	}
	close(s.posts)
	defer time.AfterFunc(lastPost, s.endPosts).Stop()
	defer time.AfterFunc(mostTime, s.endCalls).Stop()
	s.sending.Wait()
	s.endPosts()
	s.endCalls()
}

// send sends a change. If too many wait for Alertmanager, it is dropped with a message.
func (s *Sender) send(c change) {
	if s.opt.Exec != "" && c.state != forgotten {
		s.call(c)
	}
	select {
	case s.posts <- c:
	default:
		s.opt.Log.Warn(fmt.Sprintf("an alert that has %s is not sent, because %d wait: %s", c.state, mostQueued, c.message.Annotations["summary"]))
	}
}

// post posts changes as they come, and active alerts every minute. If that fails, it says so once.
func (s *Sender) post(ctx context.Context) {
	active, isFailing := map[string]message{}, false
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var list []message
		select {
		case <-tick.C:
			for _, key := range slices.Sorted(maps.Keys(active)) {
				list = append(list, active[key])
			}
		case c, isOpen := <-s.posts:
			for ; isOpen; c, isOpen = <-s.posts {
				key := fmt.Sprint(c.message.Labels)
				if delete(active, key); c.state == fired {
					active[key] = c.message
				}
				if c.state != forgotten {
					list = append(list, c.message)
				}
				if len(s.posts) == 0 { // what came at the same time is one request
					break
				}
			}
			if !isOpen && len(list) == 0 {
				return
			}
		}
		if len(list) == 0 || s.opt.Alertmanager == "" {
			continue
		}
		switch err := s.request(ctx, list); {
		case err != nil && !isFailing:
			isFailing = true
			s.opt.Log.Warn(fmt.Sprintf("Alertmanager does not take alerts, which are posted again each minute: %v", err))
		case err == nil && isFailing:
			isFailing = false
			s.opt.Log.Info("Alertmanager takes alerts again")
		}
	}
}

// request posts alerts to Alertmanager.
func (s *Sender) request(ctx context.Context, list []message) error {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	for i := range list {
		if list[i].EndsAt.IsZero() {
			list[i].EndsAt = time.Now().Add(ahead)
		}
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.opt.Alertmanager, "/")+"/api/v2/alerts", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Transport: s.opt.Transport}).Do(r)
	if err != nil {
		if of, ok := errors.AsType[*url.Error](err); ok { // it repeats the address, which may have a password
			err = of.Err
		}
		return err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 300))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %s: %s", answer.Status, term.Clean(strings.TrimSpace(string(text))))
	}
	return nil
}

// call calls the program, when it has ended for the change before.
func (s *Sender) call(c change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, done := s.called, make(chan struct{})
	s.called = done
	s.sending.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		if err := s.program(c); err != nil {
			s.opt.Log.Warn(fmt.Sprintf("%s failed for an alert that has %s: %v", s.opt.Exec, c.state, err))
		}
	})
}

// program runs the program with fired or resolved as its argument, and the alert as JSON on stdin.
func (s *Sender) program(c change) error {
	ctx, cancel := context.WithTimeout(s.calling, mostTime)
	defer cancel()
	alert, err := json.Marshal(c.message)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, s.opt.Exec, c.state)
	cmd.Stdin, cmd.WaitDelay = bytes.NewReader(append(alert, '\n')), time.Second // its children may keep the pipes
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, term.Clean(strings.TrimSpace(string(out[:min(len(out), 300)]))))
	}
	return err
}
