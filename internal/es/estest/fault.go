package estest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Kind says how a request fails.
type Kind int

// Faults of a request. Those from Unordered on change items of a bulk request; Every says which items.
const (
	None           Kind = iota
	Rejected            // status 429: too many requests
	Flood               // status 429, cluster_block_exception: the disk is full
	TooLarge            // status 413 without a body
	BadGateway          // status 502 and the page of a proxy
	Unavailable         // status 503 and a page
	GatewayTimeout      // status 504 and a page
	Forbidden           // status 403, security_exception
	Unauthorized        // status 401, security_exception
	Login               // status 200 and the login page of a proxy
	Reset               // the connection is closed while the request is read; nothing is stored
	ResetAnswer         // everything is stored; the connection is closed in the middle of the answer
	// everything is stored; half of the answer is missing, though the connection is closed properly
	Cut
	Slow             // the answer comes after Wait
	Hang             // everything is stored; no answer comes
	Restart          // the connection is closed; new ones are refused for Wait
	Unordered        // the items have another order
	ItemsRejected    // status 429, es_rejected_execution_exception
	ItemsFlood       // status 429, cluster_block_exception: the disk is full
	ItemsBlocked     // status 403, cluster_block_exception: a write block
	ItemsUnavailable // status 503, unavailable_shards_exception
	ItemsClosed      // status 400, index_closed_exception
	ItemsMissing     // status 404, index_not_found_exception
	ItemsBroken      // status 500
	ItemsRefused     // status 400, mapper_parsing_exception
	ItemsHidden      // stored, but missing in the answer
	ItemsLost        // neither stored nor in the answer, although errors is false
	ItemsTwice       // stored; twice in the answer
)

const flood = "blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];"

// answered is an error answer. Without a type it is the page of a proxy.
type answered struct {
	status       int
	kind, reason string
}

var faults = map[Kind]answered{
	Rejected:       {429, "es_rejected_execution_exception", "rejected execution of coordinating operation [coordinating_and_primary_bytes=94385594, replica_bytes=0]"},
	Flood:          {429, "cluster_block_exception", "index [fio-runs] " + flood},
	BadGateway:     {status: 502},
	Unavailable:    {status: 503},
	GatewayTimeout: {status: 504},
	Login:          {status: 200},
	Forbidden:      {403, "security_exception", "action [indices:data/write/bulk] is unauthorized for user [fio2es]"},
	Unauthorized:   {401, "security_exception", "unable to authenticate user [fio2es] for REST request"},
}

var itemFaults = map[Kind]answered{
	ItemsRejected:    {429, "es_rejected_execution_exception", "rejected execution of primary operation [coordinating_and_primary_bytes=0]"},
	ItemsFlood:       {429, "cluster_block_exception", "index [INDEX] " + flood},
	ItemsBlocked:     {403, "cluster_block_exception", "index [INDEX] blocked by: [FORBIDDEN/8/index write (api)];"},
	ItemsUnavailable: {503, "unavailable_shards_exception", "[INDEX][0] primary shard is not active Timeout: [1m]"},
	ItemsClosed:      {400, "index_closed_exception", "closed"},
	ItemsMissing:     {404, "index_not_found_exception", "no such index [INDEX]"},
	ItemsBroken:      {500, "null_pointer_exception", "Cannot invoke \"Object.toString()\""},
	ItemsRefused:     {400, "mapper_parsing_exception", "failed to parse field [latency.histogram] of type [histogram]"},
}

// Fault is one failure of requests.
type Fault struct {
	Kind       Kind
	On         string        // end of the path; default "_bulk"
	Times      int           // number of requests with the fault; 0 means 1, negative: all
	Every      int           // only each n-th item; 0 means all
	Wait       time.Duration // of Slow and Restart
	RetryAfter string        // header of Rejected and Unavailable
}

// Script adds faults. Each request takes the first unused fault for its path.
func (s *Server) Script(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Heal removes the unused faults.
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
		if !strings.HasSuffix(path, cmp.Or(f.On, "_bulk")) {
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

// refuse answers a request whose fault comes before anything is stored. It reports whether it did.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, f Fault) bool {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	switch x := faults[f.Kind]; {
	case x.kind != "":
		w.WriteHeader(x.status)
		_ = json.NewEncoder(w).Encode(no(x.status, x.kind, x.reason).body)
	case x.status > 0:
		w.Header().Del("X-Elastic-Product")
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(x.status)
		_, _ = fmt.Fprintf(w, "<html>\r\n<head><title>%s</title></head>\r\n<body><center><h1>%[1]s</h1></center><hr>proxy</body>\r\n</html>\r\n",
			fmt.Sprintf("%d %s", x.status, http.StatusText(x.status)))
	case f.Kind == TooLarge:
		w.Header().Del("X-Elastic-Product")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case f.Kind == Reset:
		_, _ = r.Body.Read(make([]byte, 100))
		panic(http.ErrAbortHandler)
	case f.Kind == Restart:
		s.mu.Lock()
		s.down = time.Now().Add(f.Wait)
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}
