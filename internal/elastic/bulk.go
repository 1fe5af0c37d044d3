package elastic

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Types of errors that tell one 429 or 400 from another.
const (
	BlockType    = "cluster_block_exception"         // status 429: the disk is full; 403: somebody set a block
	RejectedType = "es_rejected_execution_exception" // status 429: too much at once, heals by waiting
	ClosedType   = "index_closed_exception"
	MissingType  = "index_not_found_exception"
)

// Gzip is which bulk requests are to be compressed.
type Gzip uint8

// The values of Gzip.
const (
	GzipWherePays Gzip = iota // those that arrive sooner so
	GzipAlways
	GzipNever
)

func (c *Config) gzip() Gzip {
	switch c.GzipLevel {
	case 0:
		return GzipWherePays
	case NoGzip:
		return GzipNever
	}
	return GzipAlways
}

// Gzip is what [Config].GzipLevel says about bulk requests.
func (c *Client) Gzip() Gzip { return c.gzip }

// Pack appends parts to w, compressed.
func (c *Client) Pack(w *bytes.Buffer, parts ...[]byte) error {
	if err := c.pack.write(w, parts...); err != nil {
		return fmt.Errorf("compress bulk request: %w", err)
	}
	return nil
}

// Bulk sends one bulk request, once: a body, as it is or by Pack, whose actions are on the
// documents of ids, one action each. Each item of the answer that could be matched to a
// document goes to each, with the document's position in ids, at most once per
// document. Bulk returns nil when all were; otherwise what happened to the others is
// unknown, even when the error is only [ErrBulkAnswer]. The body may be reused when it
// has returned.
func (c *Client) Bulk(ctx context.Context, body []byte, ids []string, each func(position int, item BulkItem)) error {
	sent := newDetachable(body)
	defer sent.detach()
	header := http.Header{"Content-Type": {"application/x-ndjson"}}
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) { // gzip's mark; JSON has no such bytes
		header.Set("Content-Encoding", "gzip")
	}
	req, err := build(ctx, esapi.BulkRequest{Body: sent, Header: header, FilterPath: bulkFilter})
	if err != nil {
		return fmt.Errorf("send bulk request: %w", err)
	}
	req.ContentLength = int64(len(body))
	req.GetBody = sent.rewind // for a connection that turns out to be closed already
	res, err := c.once(req, c.timeout)
	if err != nil {
		return fmt.Errorf("send bulk request: %w", c.failed(err))
	}
	defer discard(res.Body)
	stored := false
	answer, err := c.open(res, min(maxBulkAnswer(len(ids)), c.maxAnswer))
	if err == nil {
		err = ReadBulk(answer, ids, func(position int, item BulkItem) {
			stored = stored || item.OK()
			each(position, item)
		})
	}
	if stored {
		c.waits.succeeded()
	}
	if err != nil {
		return fmt.Errorf("send bulk request: %w", err)
	}
	return nil
}

// bulkFilter is what is read of the answer.
var bulkFilter = []string{"errors", "error", "status", "items.*._id", "items.*.status", "items.*.error"}

// maxBulkAnswer is how many bytes the answer to a bulk request of so many documents may have.
// An item has 100 bytes, or a few thousand if it was refused.
func maxBulkAnswer(documents int) int64 {
	const all, each, most = 1 << 20, 8 << 10, 32 << 20
	return min(all+each*int64(documents), most)
}
