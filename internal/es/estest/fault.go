package estest

import (
	"net/http"
	"strings"
	"time"
)

// Kind is a way to fail.
type Kind int

// What can go wrong with a request. Those after Unordered concern items of a bulk
// request, and leave those alone that Every does not choose.
const (
	None             Kind = iota
	Rejected              // status 429, too much at once
	Flood                 // status 429, cluster_block_exception: the disk is full
	TooLarge              // status 413 with nothing in it
	BadGateway            // status 502 and a page, as of a proxy
	Unavailable           // status 503 and a page
	GatewayTimeout        // status 504 and a page
	Forbidden             // status 403, security_exception
	Unauthorized          // status 401, security_exception
	Login                 // status 200 and a page, as of a proxy
	Reset                 // the connection ends while the request is read; nothing is stored
	ResetAnswer           // all is stored, and the connection ends in the middle of the answer
	Cut                   // all is stored, and the answer is half, though the connection ends well
	Slow                  // the answer comes after Wait
	Hang                  // all is stored, and no answer ever comes
	Restart               // the connection ends; new ones are refused for Wait
	Unordered             // the items come in another order
	ItemsRejected         // status 429, es_rejected_execution_exception
	ItemsFlood            // status 429, cluster_block_exception: the disk is full
	ItemsBlocked          // status 403, cluster_block_exception: a write block
	ItemsUnavailable      // status 503, unavailable_shards_exception
	ItemsClosed           // status 400, index_closed_exception
	ItemsMissing          // status 404, index_not_found_exception
	ItemsBroken           // status 500
	ItemsRefused          // status 400, mapper_parsing_exception
	ItemsHidden           // stored, but not in the answer
	ItemsLost             // neither stored nor in the answer, and errors is false
	ItemsTwice            // stored, and in the answer twice
)

// Fault is one failure.
type Fault struct {
	Kind       Kind
	On         string        // end of the path; "_bulk" when empty
	Times      int           // how many requests have the fault; 0 is 1, negative is for ever
	Every      int           // each n-th item; 0 is all
	Wait       time.Duration // of Slow and Restart
	RetryAfter string        // header of Rejected and Unavailable
}

func (f *Fault) matches(path string) bool {
	on := f.On
	if on == "" {
		on = "_bulk"
	}
	return strings.HasSuffix(path, on)
}

// chooses reports whether a fault concerns item i.
func (f *Fault) chooses(i int) bool {
	return f.Kind > Unordered && i%max(f.Every, 1) == 0
}

// Script adds faults; each request takes the first that is left for its path.
func (s *Server) Script(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Heal forgets the faults that are left.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

func (s *Server) takeFault(path string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.faults {
		f := &s.faults[i]
		if !f.matches(path) {
			continue
		}
		taken := *f
		switch {
		case f.Times > 1:
			f.Times--
		case f.Times >= 0:
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
		}
		return taken
	}
	return Fault{}
}

const page = "<html>\r\n<head><title>%s</title></head>\r\n<body><center><h1>%[1]s</h1></center><hr>proxy</body>\r\n</html>\r\n"

// refuse answers faults that come before anything is stored. It reports whether it did.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, f Fault) bool {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	switch f.Kind {
	case Rejected:
		fail(w, http.StatusTooManyRequests, "es_rejected_execution_exception", "rejected execution of coordinating operation [coordinating_and_primary_bytes=94385594, replica_bytes=0]")
	case Flood:
		fail(w, http.StatusTooManyRequests, "cluster_block_exception", "index [fio-runs] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];")
	case TooLarge:
		w.Header().Del("X-Elastic-Product")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case BadGateway, Unavailable, GatewayTimeout, Login:
		status := map[Kind]int{
			BadGateway: http.StatusBadGateway, Unavailable: http.StatusServiceUnavailable,
			GatewayTimeout: http.StatusGatewayTimeout, Login: http.StatusOK,
		}[f.Kind]
		writePage(w, status)
	case Forbidden:
		fail(w, http.StatusForbidden, "security_exception", "action [indices:data/write/bulk] is unauthorized for user [fio2es]")
	case Unauthorized:
		fail(w, http.StatusUnauthorized, "security_exception", "unable to authenticate user [fio2es] for REST request ["+r.URL.Path+"]")
	case Reset:
		_, _ = r.Body.Read(make([]byte, 100))
		panic(http.ErrAbortHandler)
	case Restart:
		s.mu.Lock()
		s.down = time.Now().Add(f.Wait)
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}
