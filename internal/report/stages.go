package report

import (
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// setStages numbers the stages of an execution, and sets in which settings they differ.
func setStages(stages []*run) {
	var docs []*mapping.Run
	for _, s := range stages {
		docs = append(docs, s.Doc)
	}
	differ := workload.Settings(docs)
	for _, s := range stages {
		s.Number, s.Differs = s.Doc.Run.Stage, differ[s.Doc]
	}
}

// executionLead returns time and version of fio of an execution.
func executionLead(stages []*run) string {
	all := mapping.Run{Run: stages[0].Doc.Run, Fio: mapping.FioInfo{Version: stages[0].Doc.Fio.Version}}
	for _, s := range stages[1:] {
		if s.Doc.Run.End.After(all.Run.End) {
			all.Run.End = s.Doc.Run.End
		}
	}
	return strings.Join((&run{Doc: &all}).lead(), between)
}

// Stages returns a table of the stages that screens show, with a row for each direction. It is empty unless the screens show
// several stages of one execution.
func Stages(screens []*Screen) []byte {
	var docs []*mapping.Run
	var stages []*run
	for _, s := range screens {
		docs, stages = append(docs, s.run.Doc), append(stages, s.run)
	}
	if !facts.IsExecution(docs) {
		return nil
	}
	setStages(stages)
	type row struct {
		stage *run
		*total
	}
	first := func(text func(*run) string) func(row) string {
		return func(r row) string {
			if !r.IsFirst {
				return ""
			}
			return text(r.stage)
		}
	}
	columns := append([]table.Column[row]{
		{Heading: "Stage", Text: first(func(r *run) string { return facts.StageText(r.Doc) })},
		{Heading: "Name", Text: first(func(r *run) string { return facts.StageName(r.Doc) })},
		{Heading: "Settings", Text: first(func(r *run) string { return r.Differs })},
		{Heading: "Dir", Text: func(r row) string { return r.Direction }},
	}, table.Map(stageNumbers(), func(r row) *facts.Line { return r.Line })...)
	out := &sheet{columns: screens[0].how.Columns}
	out.lines(facts.ExecutionTitle(docs[0]))
	to := table.NewNarrow(out, table.Text, columns, []string{"SETTINGS", "NAME"}, []string{"MAX", "BANDWIDTH", "P50", "REQUESTS", "P99.9"})
	byFio := false
	for _, s := range stages {
		for _, t := range s.Totals {
			to.Write(row{s, t}) // a sheet takes all that is written
			byFio = byFio || t.Latencies.ByFio
		}
	}
	to.End(facts.Notes(byFio)...)
	return out.Bytes()
}

// stageNumbers are the numbers in a table of stages. Its names and settings take more room than those of other tables.
func stageNumbers() []table.Column[*facts.Line] {
	return table.Pick(facts.Numbers(), "requests", "iops", "bandwidth", "p50", "p99", "p99_9", "max")
}
