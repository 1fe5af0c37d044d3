package main

import (
	"context"
	"os"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
)

// source opens the history to copy from: with --into the one in the settings, otherwise the embedded one.
func (p *pushing) source(ctx context.Context) (history.Store, error) {
	if p.into != "" {
		return p.history().open(ctx)
	}
	return p.history().readEmbedded(ctx)
}

// copy copies runs to the target that the flags name.
func (p *pushing) copy(ctx context.Context, from history.Store, opt ingest.PushOptions) (pushed ingest.Pushed, leftOut bool, err error) {
	if p.output != "" {
		err = p.toFile(p.output, func(to ingest.Target) (err error) {
			pushed, err = ingest.Push(ctx, from, to, opt)
			return err
		})
		return pushed, false, err
	}
	to, err := p.target(ctx)
	if err != nil {
		return pushed, false, err
	}
	pushed, err = ingest.Push(ctx, from, to, opt)
	leftOut, err = closed(to.Store, err)
	return pushed, leftOut, err
}

// target opens the history to copy to. Copied runs keep their verdicts on rules.
func (p *pushing) target(ctx context.Context) (ingest.Target, error) {
	h := p.history()
	if p.into == "" {
		store, err := h.cluster(ctx)
		return ingest.Target{Sink: store, Store: store, IsCluster: true}, err
	}
	here, err := os.Stat(h.History)
	there, errThere := os.Stat(p.into)
	if err == nil && errThere == nil && !h.Elasticsearch.Enabled() && os.SameFile(here, there) {
		return ingest.Target{}, usagef("--into %s is the history itself: name another file, or the history to copy from with --history", shortHome(p.into))
	}
	h.History, h.Elasticsearch = p.into, config.Elasticsearch{}
	store, err := h.writeEmbedded(ctx)
	return ingest.Target{Sink: store, Store: store}, err
}
