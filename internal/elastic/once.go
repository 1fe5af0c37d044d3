package elastic

// Once is the same client, over the same connections, without retries of its own. It is
// for callers that try again by their own rule: two rules, one within the other, would
// multiply, and a server that is down would be asked twenty times instead of five.
func (c *Client) Once() *Client {
	one := *c
	one.retries = 0
	return &one
}
