package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/unit"
)

// again sends the documents of a reject file again. It reads the whole file first, because documents that are
// rejected again may be written to the same file.
func (p *pushing) again(ctx context.Context) error {
	if !p.cfg.Elasticsearch.Enabled() {
		return errNoCluster
	}
	text, err := os.ReadFile(p.rejects)
	if err != nil {
		return err
	}
	client, _, err := p.history().connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	to := elastic.New(client, elastic.Options{
		Prefix: p.cfg.Prefix, RejectFile: p.cfg.Elasticsearch.Rejects,
		NoVerify: true, // the file has only some documents of a run
	})
	documents, leftOut, err := ingest.PushRejects(ctx, to, p.rejects, text, p.log)
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	refused := to.Rejected()
	fmt.Fprintf(p.stderr, "%s sent, %d refused again\n", unit.Plural(documents, "document"), refused)
	return leftOutIf(nil, leftOut || refused > 0)
}
