package main

import (
	"fmt"
	"time"

	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// printNews prints the new runs, how much was stored, where, and what to do next. known is the number of runs that
// were not read.
func (g *ingesting) printNews(result *ingest.Result, known int, took time.Duration) error {
	runs := result.News()
	to := g.stdout
	if g.output != "" {
		to = g.stderr
	}
	if len(runs) > 0 || g.format != table.Text && !g.quiet {
		if err := writeRuns(to, runs, nil, g.format); err != nil {
			return err
		}
	}
	if g.format == table.Text && !g.quiet {
		g.printSums(result, runs, known, took)
	}
	return nil
}

// printSums prints how much was stored, where, and what to do next.
func (g *ingesting) printSums(result *ingest.Result, news []*mapping.Run, known int, took time.Duration) {
	documents, unchanged := result.Count()
	text := fmt.Sprintf("%s stored %s in %s", unit.Plural(len(news), "run"), unit.Plural(documents, "document"), unit.Elapsed(took))
	requests := int64(0)
	for _, r := range news {
		if r.All != nil {
			requests += r.All.Requests
		}
	}
	if len(news) > 0 {
		text = "\n" + text + ": " + unit.Count(requests) + " requests"
	}
	if unchanged += known; unchanged > 0 {
		text += "; " + unit.Count(int64(unchanged)) + " unchanged"
	}
	if g.verify {
		text += ", all files read"
	}
	fmt.Fprintln(g.stderr, text)
	if g.output == "" {
		term.Line(g.stderr, "history: %s", g.history().name())
	}
	if g.output == "" && len(news) > 0 {
		fmt.Fprint(g.stderr, "next:    fio2es runs\n         fio2es percentiles latest\n")
	}
}
