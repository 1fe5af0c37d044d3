package nightly

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"syscall"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/source"
)

// damage is a message about something that is left out. Its key changes if the file or run that the message is about
// changes.
type damage struct {
	Key  string `json:"key"` // empty if that file or run may change without a trace
	Text string `json:"text"`
}

// damageOf returns the damage of a run. If the history has the run (e), the damage belongs to the stored version.
// Otherwise it belongs to the run with the key run, or to nothing if that is "".
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

// damages are all damages that an ingest met.
type damages struct {
	log   *slog.Logger
	state *state
	today int
	all   []damage
}

// add warns about a damage unless people acknowledged it. It reports whether they did not.
func (d *damages) add(one damage) (leftOut bool) {
	if slices.Contains(d.all, one) { // the run was read twice
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

// Count returns how many damages people acknowledged, and how many they did not.
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

// Acknowledge records that people know all damages that this ingest met, except those of files that were changed in
// the last two seconds.
func (d *damages) Acknowledge() {
	for _, one := range d.all {
		if one.Key != "" {
			d.state.Acknowledged[one.Key] = 0 // save sets the day
		}
	}
}

// touch updates the day of acknowledged damages that were met, so that they are not forgotten.
func (d *damages) touch() {
	for _, one := range d.all {
		if d.isAcknowledged(one) {
			d.state.Acknowledged[one.Key] = d.today
		}
	}
}

// setLacks records what a version of a run lacks that is stored now. If it no longer lacks anything, the empty
// record stays, because otherwise save would take over the texts of an earlier ingest.
func (d *damages) setLacks(version *entry, texts []string) {
	if len(texts) > 0 || d.state.Damaged[version.version()] != nil {
		d.state.Damaged[version.version()] = &entry{ID: version.ID, Version: version.Version, Damage: texts, Seen: d.today}
	}
}

// lacks warns about what a run lacks that the history had before this ingest.
func (d *damages) lacks(run *mapping.Run) {
	v := entryOf(run)
	// Requests that fio did not log are missing too, but they were not left out.
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

// IsNews reports whether no earlier ingest had this message.
func (d *damages) IsNews(text string) bool {
	k := damageOf("note", &entry{}, text).Key
	_, known := d.state.Noted[k]
	d.state.Noted[k] = d.today
	return !known
}

// isPassing reports whether the reason of a damage may pass without a change of the file: an error of the system, or
// a limit of all files together.
func isPassing(err error) bool {
	return errors.As(err, new(syscall.Errno)) || errors.Is(err, source.ErrChanged) || errors.Is(err, source.ErrTooMuch)
}
