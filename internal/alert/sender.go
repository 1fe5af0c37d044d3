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
	posts, calls       chan change // nil: no Alertmanager, no program
	endPosts, endCalls context.CancelFunc
	sending            sync.WaitGroup
	isFailing          bool // a message said so
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
	s := &Sender{opt: opt}
	begin := func(isWanted bool, send func(context.Context, <-chan change)) (chan change, context.CancelFunc) {
		if !isWanted {
			return nil, func() {}
		}
		ctx, stop := context.WithCancel(context.Background())
		to := make(chan change, mostQueued)
		s.sending.Go(func() { send(ctx, to) })
		return to, stop
	}
	s.posts, s.endPosts = begin(opt.Alertmanager != "", s.post)
	s.calls, s.endCalls = begin(opt.Exec != "", s.call)
	return s
}

// Close sends what is left: to Alertmanager for a second, and to the program for as long as one call may take. All watches must have ended.
func (s *Sender) Close() {
	if s == nil {
		return
	}
	for limit, end := range map[time.Duration]context.CancelFunc{lastPost: s.endPosts, mostTime: s.endCalls} {
		defer end()
		defer time.AfterFunc(limit, end).Stop()
	}
	for _, to := range []chan change{s.posts, s.calls} {
		if to != nil {
			close(to)
		}
	}
	s.sending.Wait()
}

// send queues a change. If too many wait, it is dropped with a message.
func (s *Sender) send(c change) {
	for _, to := range []chan change{s.posts, s.calls} {
		if to == nil {
			continue
		}
		select {
		case to <- c:
		default:
			s.opt.Log.Warn(fmt.Sprintf("an alert that has %s is not sent, because %d wait: %s", c.state, mostQueued, c.message.Annotations["summary"]))
		}
	}
}

// post posts changes as they come, and active alerts every minute.
func (s *Sender) post(ctx context.Context, changes <-chan change) {
	active := map[string]message{}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var list []message
		select {
		case <-tick.C:
			for _, key := range slices.Sorted(maps.Keys(active)) {
				list = append(list, active[key])
			}
		case c, isOpen := <-changes:
			if !isOpen {
				return
			}
			for {
				key := fmt.Sprint(c.message.Labels)
				if delete(active, key); c.state == fired {
					active[key] = c.message
				}
				if c.state != forgotten {
					list = append(list, c.message)
				}
				if len(changes) == 0 { // what came at the same time is one request
					break
				}
				c = <-changes
			}
		}
		s.report(ctx, list)
	}
}

// report posts alerts, and says once that it fails.
func (s *Sender) report(ctx context.Context, list []message) {
	if len(list) == 0 {
		return
	}
	for i := range list {
		if list[i].EndsAt.IsZero() {
			list[i].EndsAt = time.Now().Add(ahead)
		}
	}
	err := s.request(ctx, list)
	switch {
	case err != nil && !s.isFailing:
		s.opt.Log.Warn(fmt.Sprintf("Alertmanager does not take alerts, which are posted again each minute: %v", err))
	case err == nil && s.isFailing:
		s.opt.Log.Info("Alertmanager takes alerts again")
	}
	s.isFailing = err != nil
}

// request posts alerts to Alertmanager.
func (s *Sender) request(ctx context.Context, list []message) error {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	address, err := url.JoinPath(s.opt.Alertmanager, "api/v2/alerts")
	if err != nil {
		return err
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Transport: s.opt.Transport}).Do(r)
	if err != nil {
		var of *url.Error // it repeats the address, which may have a password
		if errors.As(err, &of) {
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

// call calls the program for each change: with fired or resolved as its argument, and the alert as JSON on stdin.
func (s *Sender) call(ctx context.Context, changes <-chan change) {
	for c := range changes {
		if c.state == forgotten {
			continue
		}
		text, err := json.Marshal(c.message)
		if err == nil {
			err = s.program(ctx, c.state, text)
		}
		if err != nil {
			s.opt.Log.Warn(fmt.Sprintf("%s failed for an alert that has %s: %v", s.opt.Exec, c.state, err))
		}
	}
}

func (s *Sender) program(ctx context.Context, state string, alert []byte) error {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.opt.Exec, state)
	cmd.Stdin, cmd.WaitDelay = bytes.NewReader(append(alert, '\n')), time.Second // its children may keep the pipes
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("it took more than %v", mostTime)
	}
	if text := strings.TrimSpace(string(out)); err != nil && text != "" {
		err = fmt.Errorf("%w: %s", err, term.Clean(text[:min(len(text), 300)]))
	}
	return err
}
