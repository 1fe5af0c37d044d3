package mapping

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// DefaultPrefix is the index name prefix unless the user sets another.
const DefaultPrefix = "fio"

// ID returns the document's _id: 40 hexadecimal digits of a hash of what identifies the document. These are the run and
// its version, level, direction, host, job, section and the window's start. So storing the document again overwrites it. The id
// is a hash because names of hosts and jobs can be long. Elasticsearch refuses a whole request for one id above 512
// bytes. The hash includes run.ingest, so a new version of a run does not overwrite the old one. Further parts of a
// split document end in ".1", ".2" and so on.
func (d *Interval) ID() string {
	sum := sha256.Sum256(d.appendKey(make([]byte, 0, 256)))
	var room [64]byte
	id := hex.AppendEncode(room[:0], sum[:20])
	if d.Part > 0 {
		id = strconv.AppendInt(append(id, '.'), int64(d.Part), 10)
	}
	return string(id)
}

// appendKey appends each string with its length, so different keys have different bytes.
func (d *Interval) appendKey(b []byte) []byte {
	for _, s := range [...]string{d.Run.ID, d.Run.Ingest, d.Level.String(), d.Fio.Direction, d.Host.Name, d.Series()} {
		b = strconv.AppendInt(b, int64(len(s)), 10)
		b = append(append(b, ':'), s...)
	}
	return strconv.AppendInt(b, d.Window.ElapsedMS, 10)
}

// Period is the time whose runs share an index of each level, as a format of package time. Few indices are few shards: a year
// has 4 in place of 48. Months are for clusters that delete old indices, and for texts, which any cluster may get.
type Period string

// The periods.
const (
	Years  Period = "2006"
	Months Period = "2006.01"
)

// Index returns the name of the document's index, from its level and the period (UTC) of the run's start, such as
// "fio-latency.host-2026".
func (d *Interval) Index(prefix string, p Period) string {
	return LatencyIndex(prefix, d.Level, p, d.Run.Start)
}

// LatencyIndex returns the name of the index of level l for runs that started in the same period as start.
func LatencyIndex(prefix string, l Level, p Period, start time.Time) string {
	return prefix + "-latency." + l.String() + "-" + start.UTC().Format(string(p))
}

// ID returns the document's _id, which is the id of the run.
func (r *Run) ID() string { return r.Run.ID }

// RunsIndex returns the name of the index of run documents.
func RunsIndex(prefix string) string { return prefix + "-runs" }

// AppendAction appends the action line of a document in a _bulk request, without the line end. The action "index" replaces a
// document with the same id; "create" stores the document only if there is none.
func AppendAction(dst []byte, action, index, id string) []byte {
	dst = append(append(append(dst, `{"`...), action...), `":{"_index":`...)
	dst = appendString(append(appendString(dst, index), `,"_id":`...), id)
	return append(dst, "}}"...)
}

// ShowPending is a painless script that removes [PendingField] from a document.
const ShowPending = "ctx._source.run.remove('pending')"

// MarkPending returns an interval document in JSON with [PendingField].
func MarkPending(text []byte) []byte {
	return bytes.Replace(text, []byte(`"run":{`), []byte(`"run":{"pending":true,`), 1)
}

// MarkChanges is a painless script. It replaces the changes in the documents of runs. The parameter "changes" has the
// new ones by run.id.
const MarkChanges = `def list = params.changes[ctx._source.run.id]; ` +
	`if (list.isEmpty()) { ctx._source.remove('changes') } else { ctx._source.changes = list }`
