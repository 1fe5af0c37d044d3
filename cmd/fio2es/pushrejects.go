package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// pushRejects sends the documents of a reject file once more. The whole file is read
// before anything is sent: what is refused again may go into the same file.
func (a *app) pushRejects(ctx context.Context, name string) error {
	if !a.cfg.Elasticsearch.Enabled() {
		return usagef("no cluster is named: say --elasticsearch URL, or set elasticsearch.addresses")
	}
	intervals, runs, leftOut, err := a.readRejects(name)
	if err != nil {
		return err
	}
	client, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	store := elastic.New(client, bulk.Options{
		Prefix: a.cfg.Prefix, RejectFile: a.cfg.Elasticsearch.Rejects, TemplateVersion: templates.Version,
		NoVerify: true, // a run has more documents than were refused
	})
	err = store.Put(ctx, intervals)
	for _, r := range runs {
		if err == nil {
			err = store.Finish(ctx, r)
		}
	}
	if err == nil {
		err = store.Flush(ctx)
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	refused := int(store.Stats().Rejected)
	fmt.Fprintf(a.stderr, "%s sent, %d refused again\n", unit.Plural(len(intervals)+len(runs), "document"), refused)
	if leftOut || refused > 0 {
		return errLeftOut
	}
	return nil
}

// readRejects reads a reject file. Lines that are none are told and left out.
func (a *app) readRejects(name string) (intervals []*mapping.Interval, runs []*mapping.Run, leftOut bool, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, false, err
	}
	for reject, err := range bulk.ReadRejects(bytes.NewReader(text)) {
		if err == nil {
			err = sortReject(reject, &intervals, &runs)
		}
		if err != nil {
			a.log.Warn(name + ": " + err.Error())
			leftOut = true
		}
	}
	return intervals, runs, leftOut, nil
}

// sortReject tells an interval's document, which has a level, from a run's.
func sortReject(r bulk.Reject, intervals *[]*mapping.Interval, runs *[]*mapping.Run) error {
	var kind struct{ Level string }
	if err := json.Unmarshal(r.Document, &kind); err != nil {
		return err
	}
	if kind.Level == "" {
		run := &mapping.Run{}
		if err := json.Unmarshal(r.Document, run); err != nil {
			return err
		}
		*runs = append(*runs, run)
		return nil
	}
	d := &mapping.Interval{}
	if err := json.Unmarshal(r.Document, d); err != nil {
		return err
	}
	*intervals = append(*intervals, d)
	return nil
}
