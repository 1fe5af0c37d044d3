package pipeline

import (
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// jobKeys are the keys that windows have by the jobs of a plan.
type jobKeys struct {
	byJob map[*plan.Job]align.Key   // without a direction; with sections if the stage has several
	jobs  map[align.Key][]*plan.Job // of windows of the levels, without a direction
}

func keysOf(p *plan.Plan, levels []mapping.Level) *jobKeys {
	k := &jobKeys{make(map[*plan.Job]align.Key, len(p.Jobs)), map[align.Key][]*plan.Job{}}
	for _, j := range p.Jobs {
		k.byJob[j] = align.Key{Host: j.Host, Job: j.Name()}
	}
	if p.HasSections() {
		for _, of := range p.Sections {
			for _, j := range of.Jobs {
				k.byJob[j] = align.Key{Host: j.Host, Job: j.Name(), Section: of.Name}
			}
		}
	}
	for _, j := range p.Jobs {
		for _, l := range levelsOf(levels) {
			key := k.byJob[j].At(l)
			k.jobs[key] = append(k.jobs[key], j)
		}
	}
	return k
}

// of returns the key of a job's requests in a direction, for [align.Key.At].
func (k *jobKeys) of(j *plan.Job, d fiolog.Direction) align.Key {
	key := k.byJob[j]
	key.Direction = d
	return key
}

// jobsOf returns the jobs whose requests are in windows of a key.
func (k *jobKeys) jobsOf(key align.Key) []*plan.Job {
	key.Direction = 0
	return k.jobs[key]
}

// levelsOf returns the levels of documents as those of windows. Their numbers are the same.
func levelsOf(levels []mapping.Level) (list []align.Level) {
	for _, l := range levels {
		list = append(list, align.Level(l))
	}
	return list
}
