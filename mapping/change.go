package mapping

// Change is a change of level that begins with a run: a number of its workload is higher or lower from this run on. It
// depends on the other runs, so a history finds it again when they change.
type Change struct {
	Direction string  `json:"direction"`
	Metric    string  `json:"metric"`     // the field of the number: "p99_9", "iops"
	Verdict   string  `json:"verdict"`    // "worse" or "better"
	Before    float64 `json:"before"`     // the level before: latencies in microseconds
	After     float64 `json:"after"`      // and since
	Percent   float64 `json:"percent"`    // the size of the change, 10 for a tenth more
	BeforeRun string  `json:"before_run"` // the id of the last run before
	Text      string  `json:"text"`       // all of it for people, with the interval of the size
}

// MarkChanges is a painless script. It sets the changes of runs' documents to those that the parameter "changes" has by
// run.id. It removes [LightField], because that has the old changes; lists then read the document.
const MarkChanges = `def list = params.changes[ctx._source.run.id]; ` +
	`if (list.isEmpty()) { ctx._source.remove('changes') } else { ctx._source.changes = list } ctx._source.remove('light')`
