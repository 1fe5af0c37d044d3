package mapping

// totalNames are the fields of the four totals, in the order of the struct.
var totalNames = append([]string{"all"}, Directions[:]...)

// AppendJSON appends the document to dst: one line without its end, the same bytes for
// the same document.
func (r *Run) AppendJSON(dst []byte) []byte {
	e := &encoder{append(dst, '{')}
	e.time("@timestamp", r.Run.Start)
	e.object("run", r.Run.encode)
	e.object("cbt", r.CBT.encode)
	if len(r.Config) > 0 {
		e.key("config")
		e.b = appendMap(e.b, r.Config)
		e.comma()
	}
	e.object("fio", func(e *encoder) {
		list := r.ByDirection()
		e.array("direction", len(list), func(e *encoder, i int) { e.b = appendString(e.b, list[i].Direction) })
		e.textOpt("version", r.Fio.Version)
		e.strings("options", r.Fio.Options)
		e.wholeOpt("jobs", int64(r.Fio.Jobs))
		e.numberOpt("usr_cpu", r.Fio.UsrCPU)
		e.numberOpt("sys_cpu", r.Fio.SysCPU)
	})
	e.objects("hosts", len(r.Hosts), func(e *encoder, i int) { r.Hosts[i].encode(e) })
	e.object("clock", func(e *encoder) {
		e.textOpt("source", r.Clock.Source)
		e.wholeOpt("error_ms", r.Clock.ErrorMS)
	})
	e.textOpt("weighting", r.Weighting)
	e.wholeOpt("interval_ms", r.IntervalMS)
	e.array("levels", len(r.Levels), func(e *encoder, i int) { e.b = appendString(e.b, r.Levels[i].String()) })
	e.textOpt("no_windows", r.NoWindows)
	e.textOpt("placed", r.Placed)
	for i, t := range []*Totals{r.All, r.Read, r.Write, r.Trim} {
		if t != nil {
			e.object(totalNames[i], t.encode)
		}
	}
	e.object("recovered", func(e *encoder) { e.wholeOpt("requests", r.Recovered.Requests) })
	e.object("missing", func(e *encoder) { e.wholeOpt("requests", r.Missing.Requests) })
	e.texts("warnings", r.Warnings)
	e.objects("sla", len(r.SLA), func(e *encoder, i int) { r.SLA[i].encode(e) })
	e.object("source", r.Source.encode)
	e.object("documents", r.Documents.encode)
	e.timeOpt("ingested", r.Ingested)
	e.end()
	return e.b
}

// MarshalJSON is [Run.AppendJSON] for package encoding/json.
func (r Run) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

func (r *RunInfo) encode(e *encoder) {
	e.text("id", r.ID)
	e.textOpt("name", r.Name)
	e.textOpt("archive", r.Archive)
	e.textOpt("path", r.Path)
	e.time("start", r.Start)
	e.timeOpt("end", r.End)
	e.text("ingest", r.Ingest)
	e.strings("labels", r.Labels)
	e.truth("complete", r.Complete)
	e.text("link", r.Link())
}

func (h *RunHost) encode(e *encoder) {
	e.textOpt("name", h.Name)
	e.wholeOpt("jobs", int64(h.Jobs))
	e.timeOpt("start", h.Start)
	e.whole("skew_ms", h.SkewMS)
	e.textOpt("clock", h.Clock)
	e.wholeOpt("clock_error_ms", h.ClockErrorMS)
}

func (t *Totals) encode(e *encoder) {
	e.whole("requests", t.Requests)
	e.wholeOpt("bytes", t.Bytes)
	e.wholeOpt("duration_ms", t.DurationMS)
	e.number("iops", t.IOPS)
	e.numberOpt("bandwidth", t.Bandwidth)
	e.object("means", func(e *encoder) {
		e.numberOpt("slat", t.Means.Slat)
		e.numberOpt("clat", t.Means.Clat)
		e.numberOpt("lat", t.Means.Lat)
	})
	e.object("sums", func(e *encoder) {
		e.numberOpt("iops", t.Sums.IOPS)
		e.numberOpt("bandwidth", t.Sums.Bandwidth)
	})
	e.latency(&t.Latency)
	if t.Fio != nil {
		e.object("fio", t.Fio.encode)
	}
}

func (f *FioLatency) encode(e *encoder) {
	e.number("min", f.Min)
	e.number("mean", f.Mean)
	e.number("max", f.Max)
	e.number("stddev", f.StdDev)
	e.objects("percentiles", len(f.Percentiles), func(e *encoder, i int) {
		e.number("rank", f.Percentiles[i].Rank)
		e.number("value", f.Percentiles[i].Value)
	})
}

func (v *Verdict) encode(e *encoder) {
	e.text("rule", v.Rule)
	e.truth("holds", v.Holds)
	e.number("value", v.Value)
	e.number("limit", v.Limit)
}

func (s *Source) encode(e *encoder) {
	e.wholeOpt("files", int64(s.Files))
	e.wholeOpt("bytes", s.Bytes)
	e.textOpt("hash", s.Hash)
	e.objects("list", len(s.List), func(e *encoder, i int) {
		e.text("path", s.List[i].Path)
		e.textOpt("role", s.List[i].Role)
		e.whole("bytes", s.List[i].Bytes)
		e.textOpt("hash", s.List[i].Hash)
	})
}

func (d *Documents) encode(e *encoder) {
	for _, n := range [...]struct {
		level Level
		n     int
	}{{Cluster, d.Cluster}, {Host, d.Host}, {Job, d.Job}} {
		e.wholeOpt(n.level.String(), int64(n.n))
	}
}
