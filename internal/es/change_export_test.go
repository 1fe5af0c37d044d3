package es

// SetStep sets how many documents one request changes.
func (c *Client) SetStep(n int) { c.step = n }

// GzipLevel returns the level with which bodies are compressed.
func (c *Client) GzipLevel() int { return c.config.GzipLevel }
