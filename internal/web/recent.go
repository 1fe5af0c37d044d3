package web

import (
	"slices"
	"sync"
)

// mostRecent is how many pages are kept.
const mostRecent = 8

// recent are the reports that were made last, because all who look at a live run request the same ones.
type recent struct {
	mu    sync.Mutex
	pages []madePage // the oldest first
}

type madePage struct {
	of   string // the tag and what else it depends on
	page []byte
}

// find is a page; nil if it is not there.
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

// add keeps a page in place of the oldest.
func (r *recent) add(of string, page []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pages) == mostRecent {
		r.pages = slices.Delete(r.pages, 0, 1)
	}
	r.pages = append(r.pages, madePage{of, page})
}
