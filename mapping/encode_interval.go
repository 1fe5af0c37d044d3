package mapping

// AppendJSON appends the document to dst: one line without its end, the same bytes for
// the same document.
func (d *Interval) AppendJSON(dst []byte) []byte {
	e := &encoder{append(dst, '{')}
	e.time("@timestamp", d.Time)
	if d.Level >= Cluster && d.Level <= Job {
		e.text("level", d.Level.String())
	}
	e.wholeOpt("part", int64(d.Part))
	e.object("interval", d.Window.encode)
	e.object("run", d.Run.encode)
	e.object("cbt", d.CBT.encode)
	e.object("host", func(e *encoder) { e.textOpt("name", d.Host.Name) })
	e.object("hosts", func(e *encoder) { e.texts("name", d.Hosts.Name) })
	e.object("fio", d.Fio.encode)
	e.latency(&d.Latency)
	e.object("requests", func(e *encoder) {
		e.whole("completed", d.Requests.Completed)
		e.number("weight", d.Requests.Weight)
	})
	e.number("iops", d.IOPS)
	e.numberOpt("bandwidth", d.Bandwidth)
	e.textOpt("weighting", d.Weighting)
	e.wholeOpt("_doc_count", d.DocCount)
	e.end()
	return e.b
}

// MarshalJSON is [Interval.AppendJSON] for package encoding/json.
func (d Interval) MarshalJSON() ([]byte, error) { return d.AppendJSON(nil), nil }

func (w *Window) encode(e *encoder) {
	e.time("end", w.End)
	e.whole("ms", w.MS)
	e.whole("elapsed_ms", w.ElapsedMS)
}

func (r *RunRef) encode(e *encoder) {
	e.text("id", r.ID)
	e.textOpt("name", r.Name)
	e.textOpt("archive", r.Archive)
	e.time("start", r.Start)
	e.text("ingest", r.Ingest)
	e.strings("labels", r.Labels)
}

func (c *CBT) encode(e *encoder) {
	if *c == (CBT{}) {
		return
	}
	e.textOpt("benchmark", c.Benchmark)
	e.textOpt("workload", c.Workload)
	e.textOpt("mode", c.Mode)
	e.wholeOpt("rwmixread", int64(c.RWMixRead))
	e.wholeOpt("op_size", c.OpSize)
	e.wholeOpt("iodepth", int64(c.IODepth))
	e.wholeOpt("total_iodepth", int64(c.TotalIODepth))
	e.wholeOpt("numjobs", int64(c.NumJobs))
	e.wholeOpt("concurrent_procs", int64(c.Procs))
	e.wholeOpt("volumes", int64(c.Volumes))
	e.wholeOpt("clients", int64(c.Clients))
	e.wholeOpt("osds", int64(c.OSDs))
	e.wholeOpt("osd_hosts", int64(c.OSDHosts))
	e.textOpt("pool_profile", c.Pool)
	e.textOpt("ceph_version", c.CephVersion)
	e.wholeOpt("osd_ra", c.OSDReadAhead)
	e.wholeOpt("client_ra", c.ReadAhead)
	e.wholeOpt("time", int64(c.RunSeconds))
	e.wholeOpt("ramp", int64(c.RampSeconds))
	e.whole("iteration", int64(c.Iteration))
}

func (f *FioRef) encode(e *encoder) {
	e.text("direction", f.Direction)
	e.textOpt("job", f.Job)
	e.textOpt("version", f.Version)
}

func (e *encoder) latency(lat *Latency) {
	if lat.IsZero() {
		return
	}
	e.object("latency", func(e *encoder) {
		if !lat.Bins.IsZero() {
			e.object("histogram", func(e *encoder) {
				e.key("values")
				e.b = append(appendValues(e.b, lat.Layout, lat.Bins.Values), ',')
				e.key("counts")
				e.b = append(appendCounts(e.b, lat.Bins.Counts), ',')
			})
		}
		if lat.Layout == "" && lat.Bins.IsZero() { // of averages
			e.number("mean", lat.Mean)
			return
		}
		e.textOpt("layout", lat.Layout)
		e.number("min", lat.Min)
		e.number("mean", lat.Mean)
		e.number("max", lat.Max)
		e.number("stddev", lat.StdDev)
		for i := range Percentiles {
			e.number(Percentiles[i].Field, Percentiles[i].Of(lat))
		}
	})
}
