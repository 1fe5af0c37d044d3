package es

import "time"

// SetStep is how many documents one request changes.
func (c *Client) SetStep(n int) { c.step = n }

// SetPause is how long the first wait is.
func (c *Client) SetPause(d time.Duration) { c.pause = d }
