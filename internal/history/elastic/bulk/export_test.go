package bulk

// Body returns the present limit of a request, in bytes.
func (s *Writer) Body() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.senders.throttle.body
}
