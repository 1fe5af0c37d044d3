package where

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/mapping"
)

// TestNarrow: what a store can look up for a condition.
func TestNarrow(t *testing.T) {
	for condition, want := range map[string]string{
		"":      "",
		"bs=4k": "cbt.op_size=4096", "osd_ra=4M": "cbt.osd_ra=4096", "time=5m": "cbt.time=300", "iteration=0": "cbt.iteration=0",
		"qd=16.5": "", "bs!=4k": "", "not bs=4k": "", "bs>4k": "", "bs=4k or qd=1": "", "(bs=4k) and (qd=1)": "cbt.op_size=4096 cbt.iodepth=1",
		"qd in (1)": "", "mode=randwrite and write.p99 > 5ms": "cbt.mode=randwrite", "mode ~ rand": "", "ceph=19": "", "ceph=19.2.0": "cbt.ceph_version=19.2.0",
		"label.release=reef": "run.labels.release=reef", "label.nodes=12": "", "option.ioengine=rbd": "", "fio=fio-3.36": "", "label.release": "",
		"start >= 2026-10-01": "2026-10-01T00:00:00Z..", "start > 2026-10-01": "2026-10-02T00:00:00Z..", "start < 2026-10": "..2026-10-01T00:00:00Z", "start <= 2026-10": "..2026-11-01T00:00:00Z",
		"start = 2026-10-01": "2026-10-01T00:00:00Z..2026-10-02T00:00:00Z", "start != 2026-10-01": "", "start >= 7d and start < yesterday and start >= 2d": "2026-10-06T15:00:00Z..2026-10-07T00:00:00Z",
		"live": "live", "live=yes": "live", "live and bs=4k": "cbt.op_size=4096 live", "live != no": "", "not live": "", "live=no": "", "live or bs=4k": "", "complete": "",
		"end >= 2026-10-01": "", "bs=4k and not (mode=read and start > 2026)": "cbt.op_size=4096",
	} {
		c, err := Parse(condition, now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, narrowed(c)); diff != "" {
			t.Errorf("%s: %s", condition, diff)
		}
	}
}

func narrowed(c *Condition) string {
	var parts []string
	for path, value := range c.Equals() {
		parts = append(parts, path+"="+value)
	}
	text := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(time.RFC3339)
	}
	if from, to := c.Started(); !from.IsZero() || !to.IsZero() {
		parts = append(parts, text(from)+".."+text(to))
	}
	if c.Live() {
		parts = append(parts, "live")
	}
	return strings.Join(parts, " ")
}

// checkNarrow checks that a run that meets a condition has the values that a store looks up for it.
func checkNarrow(t *testing.T, c *Condition, run *mapping.Run) {
	t.Helper()
	from, to := c.Started()
	if run.Run.Start.Before(from) || !to.IsZero() && !run.Run.Start.Before(to) {
		t.Errorf("%s: a run of %v is not looked up from %v to %v", c, run.Run.Start, from, to)
	}
	if c.Live() && !run.Run.Live() {
		t.Errorf("%s: a run that is not live is not looked up", c)
	}
	var document struct {
		Run struct{ Labels map[string]any }
		CBT map[string]any
	}
	if err := json.Unmarshal(run.AppendJSON(nil), &document); err != nil {
		t.Fatal(err)
	}
	for path, value := range c.Equals() {
		got, isSetting := document.CBT[strings.TrimPrefix(path, "cbt.")]
		if !isSetting {
			got = document.Run.Labels[strings.TrimPrefix(path, "run.labels.")]
		}
		if fmt.Sprint(got) != value {
			t.Errorf("%s: a run with %s %v is not looked up by %s", c, path, got, value)
		}
	}
}
