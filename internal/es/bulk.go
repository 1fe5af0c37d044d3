package es

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Types of errors with the same status.
const (
	BlockType    = "cluster_block_exception"         // status 429: the disk is full; 403: someone set a block
	RejectedType = "es_rejected_execution_exception" // status 429: too much at once; waiting helps
	ClosedType   = "index_closed_exception"
	MissingType  = "index_not_found_exception"
)

// Pack is the body of a bulk request as it is sent: compressed according to
// [Config].GzipLevel, or body itself.
func (c *Client) Pack(body []byte) ([]byte, error) { return c.pack.pack(body) }

// Bulk sends one bulk request, once. The body is from Pack, and has one action for each of the
// documents of ids. It returns an item result for each of these. Its status is 0 if the answer
// has none: then the error says why, and whether the document is stored is unknown. The body
// must not be changed afterwards, because the connection may still be sending it.
func (c *Client) Bulk(ctx context.Context, body []byte, ids []string) ([]BulkItem, error) {
	items := make([]BulkItem, len(ids))
	err := c.bulk(ctx, body, ids, items)
	if slices.ContainsFunc(items, BulkItem.OK) {
		c.waits.succeeded()
	}
	if err != nil {
		err = fmt.Errorf("send bulk request: %w", err)
	}
	return items, err
}

func (c *Client) bulk(ctx context.Context, body []byte, ids []string, items []BulkItem) error {
	header := http.Header{"Content-Type": {"application/x-ndjson"}}
	if isPacked(body) {
		header.Set("Content-Encoding", "gzip")
	}
	req, err := build(ctx, esapi.BulkRequest{Body: bytes.NewReader(body), Header: header, FilterPath: bulkFilter})
	if err != nil {
		return err
	}
	res, err := c.once(req)
	if err != nil {
		return c.failed(err)
	}
	defer discard(res.Body)
	answer, err := c.open(res, min(maxBulkAnswer(len(ids)), c.maxAnswer))
	if err != nil {
		return err
	}
	return readBulk(answer, ids, items)
}

// bulkFilter selects the fields of the answer.
var bulkFilter = []string{"errors", "error", "status", "items.*._id", "items.*.status", "items.*.error"}

// maxBulkAnswer returns how many bytes the answer to a bulk request may have. An item result has 100 bytes, or a few
// thousand if the document was rejected.
func maxBulkAnswer(documents int) int64 {
	const all, each, most = 1 << 20, 8 << 10, 32 << 20
	return min(all+each*int64(documents), most)
}
