package nightly

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"syscall"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// damage is a message about something that is left out. Its key changes when the file or run that it is about changes.
type damage struct {
	Key  string `json:"key"` // "" if that may change without a trace
	Text string `json:"text"`
}

// damageOf makes the damage of a run, which is given by its key, or "" if it has none. If the history has the run, the
// damage belongs to the stored version.
func damageOf(run string, e *entry, text string) damage {
	d, k := damage{Text: text}, newKey("damage")
	switch {
	case e.Version != "":
		k.text(e.ID, e.Version, text)
	case run != "":
		k.text(run, text)
	default:
		return d
	}
	d.Key = k.sum()
	return d
}

// damages is all damage that an ingest met.
type damages struct {
	log   *slog.Logger
	state *state
	today int
	all   []damage
}

// add warns about what is left out, unless people acknowledged it. It reports whether it warned.
func (d *damages) add(one damage) (leftOut bool) {
	if slices.Contains(d.all, one) { // a run was read twice
		return !d.isAcknowledged(one)
	}
	d.all = append(d.all, one)
	if d.isAcknowledged(one) {
		d.log.Debug("acknowledged: " + one.Text)
		return false
	}
	d.log.Warn(one.Text)
	return true
}

func (d *damages) isAcknowledged(one damage) bool {
	_, ok := d.state.Acknowledged[one.Key]
	return ok
}

// Count returns how much damage people acknowledged, and how much they did not.
func (d *damages) Count() (acknowledged, other int) {
	for _, one := range d.all {
		if d.isAcknowledged(one) {
			acknowledged++
		} else {
			other++
		}
	}
	return acknowledged, other
}

// Acknowledge notes that people know all damage that this ingest met, except damage of files that were changed in the
// last two seconds.
func (d *damages) Acknowledge() {
	for _, one := range d.all {
		if one.Key != "" {
			d.state.Acknowledged[one.Key] = 0 // saving sets the day
		}
	}
}

// touch keeps what people acknowledged from being forgotten.
func (d *damages) touch() {
	for _, one := range d.all {
		if d.isAcknowledged(one) {
			d.state.Acknowledged[one.Key] = d.today
		}
	}
}

// setLacks notes what the version of a run that was stored now lacks. A version that lacks nothing any more stays noted:
// else saving would take over the texts of an earlier ingest.
func (d *damages) setLacks(version *entry, texts []string) {
	if len(texts) > 0 || d.state.Damaged[version.version()] != nil {
		d.state.Damaged[version.version()] = &entry{ID: version.ID, Version: version.Version, Damage: texts, Seen: d.today}
	}
}

// lacks warns about what a version of a run lacks that the history had before this ingest.
func (d *damages) lacks(run *mapping.Run) {
	v := entryOf(run)
	// What fio did not log is missing, too, but was not left out.
	if d.state.Damaged[v.version()] == nil && !run.Run.Complete && !run.Run.Live() && run.Missing.Requests == 0 && len(run.Warnings) > 0 {
		d.setLacks(v, []string{fmt.Sprintf("%s:%s: not all of it is in the history: %s", run.Run.Archive, run.Run.Name, run.Warnings[0])})
	}
	d.repeatLack(v)
}

func (d *damages) repeatLack(version *entry) {
	if v := d.state.Damaged[version.version()]; v != nil {
		v.Seen = d.today
		for _, text := range v.Damage {
			d.add(damageOf("", v, text))
		}
	}
}

// IsNews reports whether no ingest before had this message for people.
func (d *damages) IsNews(text string) bool {
	k := damageOf("note", &entry{}, text).Key
	_, known := d.state.Noted[k]
	d.state.Noted[k] = d.today
	return !known
}

// isPassing reports whether a reason to leave something out may pass without a change of the file that it is about:
// errors of the system, and limits of all files together.
func isPassing(err error) bool {
	return errors.As(err, new(syscall.Errno)) || errors.Is(err, source.ErrChanged) || errors.Is(err, cbt.ErrBudget)
}
