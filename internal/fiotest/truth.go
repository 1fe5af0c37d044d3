package fiotest

// Truth is the contents of a log, and the requests of its job that are not in it.
type Truth struct {
	// Bytes is the size of the log.
	Bytes int64
	// RuntimeMs is the job's run time, which ends after the last row.
	RuntimeMs int64
	// Logged counts the requests in rows, by direction and bin at coarseness 0. It is nil for a direction without
	// rows.
	Logged [directions][]uint64
	// Tail counts the requests after the last row. They are in no log, but in fio's JSON.
	Tail [directions][]uint64

	bins int
}

func newTruth(s LogSpec) Truth {
	return Truth{bins: s.axis().bins()}
}

func (t *Truth) add(r Row) {
	count(&t.Logged[r.Direction], t.bins, r.Bins)
}

func (t *Truth) addTail(r Row) {
	count(&t.Tail[r.Direction], t.bins, r.Bins)
}

func count(into *[]uint64, bins int, add []BinCount) {
	if *into == nil {
		*into = make([]uint64, bins)
	}
	sum := *into
	for _, b := range add {
		sum[b.Bin] += b.Count
	}
}

// Requests returns how many requests of a direction are in the log, and how many completed after its last row.
func (t Truth) Requests(direction int) (logged, tail uint64) {
	return total(t.Logged[direction]), total(t.Tail[direction])
}

// Columns returns the logged counts of a direction as columns of a log of this coarseness, summed over all rows. It
// returns nil for a direction without rows.
func (t Truth) Columns(direction, coarseness int) []uint64 {
	fine := t.Logged[direction]
	if fine == nil {
		return nil
	}
	out := make([]uint64, len(fine)>>coarseness)
	for i, n := range fine {
		out[i>>coarseness] += n
	}
	return out
}

// Whole returns the counts of a direction over the whole job at coarseness 0, as in the bins of fio's JSON.
func (t Truth) Whole(direction int) []uint64 {
	var out []uint64
	merge(&out, t.Logged[direction])
	merge(&out, t.Tail[direction])
	return out
}

// Merge adds the bytes and counts of another log. RuntimeMs becomes the larger one. Both logs must have the same layout.
// If the other one has more bins, they are appended.
func (t *Truth) Merge(o Truth) {
	t.Bytes += o.Bytes
	t.RuntimeMs = max(t.RuntimeMs, o.RuntimeMs)
	for d := range directions {
		merge(&t.Logged[d], o.Logged[d])
		merge(&t.Tail[d], o.Tail[d])
	}
}

func merge(into *[]uint64, add []uint64) {
	if missing := len(add) - len(*into); missing > 0 {
		*into = append(*into, make([]uint64, missing)...)
	}
	for i, n := range add {
		(*into)[i] += n
	}
}

func total(counts []uint64) (sum uint64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
