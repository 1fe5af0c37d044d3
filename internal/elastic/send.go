package elastic

import "net/http"

// Send is [Client.Perform] for those who read answers themselves; its error says who
// could not be reached, and what to do.
func (c *Client) Send(req *http.Request) (*http.Response, error) {
	res, err := c.Perform(req)
	if err != nil {
		return nil, c.failed(err)
	}
	return res, nil
}
