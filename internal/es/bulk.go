package es

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Types of errors. HTTP status 429 is used for both.
const (
	BlockType    = "cluster_block_exception"         // 429 for a full disk; 403 for a block that a person set
	RejectedType = "es_rejected_execution_exception" // 429 for too many requests; waiting helps
	ClosedType   = "index_closed_exception"
	MissingType  = "index_not_found_exception"
)

// Pack compresses the body of a bulk request according to [Config].GzipLevel. With NoGzip it returns body itself.
func (c *Client) Pack(body []byte) ([]byte, error) { return c.pack.pack(body) }

// Bulk sends one bulk request, without retries. body comes from Pack and has one action for each of ids. Bulk
// returns one item result for each of ids. If the answer lacks an item, its Status is 0, err says why, and the
// document may or may not be stored. The caller must not change body afterwards, because the connection may still be
// sending it.
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

// bulkFilter lists the fields of the answer that are read. Elasticsearch leaves out the others.
var bulkFilter = []string{"errors", "error", "status", "items.*._id", "items.*.status", "items.*.error"}

// maxBulkAnswer returns the limit of the answer to a bulk request, in bytes. An item result has about 100 bytes, or
// a few thousand if the document was rejected.
func maxBulkAnswer(documents int) int64 {
	const all, each, most = 1 << 20, 8 << 10, 32 << 20
	return min(all+each*int64(documents), most)
}
