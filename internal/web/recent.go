package web

import (
	"slices"
	"sync"
)

// mostRecent is how many pages are kept.
const mostRecent = 8

// recent has the last reports. All users who look at a live run request the same reports.
type recent struct {
	mu    sync.Mutex
	pages []madePage // the oldest is first
}

type madePage struct {
	of   string // tag, and address of the list
	page []byte
}

// find returns a page, or nil.
func (r *recent) find(of string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pages {
		if p.of == of {
			return p.page
		}
	}
	return nil
}

// add stores a page, and drops the oldest if there are too many.
func (r *recent) add(of string, page []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pages) == mostRecent {
		r.pages = slices.Delete(r.pages, 0, 1)
	}
	r.pages = append(r.pages, madePage{of, page})
}
