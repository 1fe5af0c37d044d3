package es

// SetStep sets how many documents one request changes.
func (c *Client) SetStep(n int) { c.step = n }

// Compresses reports whether bodies are compressed.
func (c *Client) Compresses() bool { return !c.config.NoGzip }
