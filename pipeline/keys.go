package pipeline

import (
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// jobKeys are the keys that windows have by the jobs of a plan.
type jobKeys struct {
	byJob    map[*plan.Job]align.Key // of the jobs, without a direction; with sections if the stage has several
	fioNames map[align.Key]string    // of their jobs in fio's report, by their keys at level Job
}

func keysOf(p *plan.Plan) *jobKeys {
	k := &jobKeys{make(map[*plan.Job]align.Key, len(p.Jobs)), map[align.Key]string{}}
	for _, j := range p.Jobs {
		k.byJob[j] = align.Key{Host: j.Host, Job: j.Name()}
	}
	if p.HasSections() {
		for _, of := range p.Sections {
			for _, j := range of.Jobs {
				key := k.byJob[j]
				key.Section = of.Name
				k.byJob[j], k.fioNames[key.At(align.Job)] = key, j.Section()
			}
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

// has reports whether requests of a job are in windows of a key.
func (k *jobKeys) has(key align.Key, j *plan.Job) bool {
	return k.of(j, key.Direction).At(key.Level) == key
}

// levelsOf returns the levels of documents as those of windows. Their numbers are the same.
func levelsOf(levels []mapping.Level) (list []align.Level) {
	for _, l := range levels {
		list = append(list, align.Level(l))
	}
	return list
}
