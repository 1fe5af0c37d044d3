package mapping

// Change is a change of level: from this run on, a number of its workload is higher or lower. It depends on the other
// runs, so a history computes it again when runs are added or removed.
type Change struct {
	Direction string  `json:"direction"`
	Metric    string  `json:"metric"`     // the field of the number: "p99_9", "iops"
	Verdict   string  `json:"verdict"`    // "worse" or "better"
	Before    float64 `json:"before"`     // the level before: latencies in microseconds
	After     float64 `json:"after"`      // the level since then
	Percent   float64 `json:"percent"`    // the size of the change: 10 is a tenth more
	BeforeRun string  `json:"before_run"` // the id of the last run before
	Text      string  `json:"text"`       // a sentence for people, with the confidence interval of the size
}

// MarkChanges is a painless script. It replaces the changes in the documents of runs. The parameter "changes" has the
// new ones by run.id. The script also removes [LightField], which has the old changes. Lists then read the document.
const MarkChanges = `def list = params.changes[ctx._source.run.id]; ` +
	`if (list.isEmpty()) { ctx._source.remove('changes') } else { ctx._source.changes = list } ctx._source.remove('light')`
