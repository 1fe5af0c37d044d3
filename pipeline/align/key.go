package align

import (
	"cmp"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Key names the direction, the host and the job of a window's requests. Fields below the level are empty.
type Key struct {
	Level     mapping.Level
	Host      string
	Job       string
	Direction fiolog.Direction
}

// Compare orders keys by level, host, job and direction.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Level, o.Level), cmp.Compare(k.Host, o.Host),
		mapping.CompareJobs(k.Job, o.Job), cmp.Compare(k.Direction, o.Direction))
}

// At returns the key of the same requests at a higher level.
func (k Key) At(l mapping.Level) Key {
	k.Level = l
	if l < mapping.Job {
		k.Job = ""
	}
	if l < mapping.Host {
		k.Host = ""
	}
	return k
}
