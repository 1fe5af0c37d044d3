package plan

import (
	"slices"
	"time"
)

// placeInStages returns the ways in which groups may have run one after another (stonewall) or side by side (new_group):
// those whose run times add up to the time that fio ran.
func placeInStages(out *Output, entries []*Entry, end time.Time) (fits []placed) {
	all := groups(entries)
	total := time.Duration(elapsed(out.Fio)) * time.Millisecond
	const most = 12 // groups; the number of ways doubles with each
	waits := func(e *Entry) bool { return e.HasOption("startdelay") || e.HasOption("wait_for") }
	if total == 0 || len(all) > most || slices.ContainsFunc(entries, waits) {
		return nil
	}
	for cuts := range 1 << (len(all) - 1) {
		stages := stagesOf(all, cuts)
		sum := time.Duration(len(stages)-1) * betweenStages
		late := time.Duration(0)
		for _, s := range stages {
			sum += lasts(s)
			late += writing(s, total)
		}
		if left := total - sum; left > -betweenStages && left < 1500*time.Millisecond+late {
			fits = append(fits, placeStages(stages, end, left))
		}
	}
	return fits
}

// placeStages places stages that ran one after another until end. left is the time of fio beside theirs.
func placeStages(stages [][]*Entry, end time.Time, left time.Duration) placed {
	p := placed{Starts: map[*Entry]moment{}, how: "each group of jobs behind the one before: their run times add " +
		"up to the time that fio ran"}
	error := errorOfEnd
	for _, stage := range slices.Backward(stages) {
		start := end.Add(-lasts(stage))
		error += writing(stage, max(left, 0))
		for _, e := range stage {
			p.Starts[e] = moment{start.Add(e.ramp()), clockReport, error + forks(stage...)}
		}
		end, error = start.Add(-betweenStages), error+errorOfStage
	}
	return p
}

// stagesOf joins groups to stages. Bit i of cuts is set if a stage ends with group i.
func stagesOf(groups [][]*Entry, cuts int) [][]*Entry {
	var stages [][]*Entry
	var stage []*Entry
	for i, g := range groups {
		stage = append(stage, g...)
		if i == len(groups)-1 || cuts>>i&1 == 1 {
			stages = append(stages, stage)
			stage = nil
		}
	}
	return stages
}

// lasts is how long the jobs of a stage run, which begin together.
func lasts(stage []*Entry) time.Duration {
	longest := time.Duration(0)
	for _, e := range stage {
		longest = max(longest, e.ranFor()+e.ramp())
	}
	return longest
}
