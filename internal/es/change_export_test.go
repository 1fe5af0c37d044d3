package es

import "time"

// SetStep sets how many documents one request changes.
func (c *Client) SetStep(n int) { c.step = n }

// SetPause sets the first pause between attempts.
func (c *Client) SetPause(d time.Duration) { c.config.Pause = d }

// GzipLevel returns the level with which bodies are compressed.
func (c *Client) GzipLevel() int { return c.config.GzipLevel }
