package fiotest

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

// fioVersion and fioVersion2 are the versions in reports: the last release line without "job_start", and the last
// fio 2.
const fioVersion, fioVersion2 = "fio-3.33", "fio-2.21"

func (a axis) version() string {
	if a.fio2 {
		return fioVersion2
	}
	return fioVersion
}

// field returns the name of a latency in a report.
func (a axis) field(name string) string {
	if a.fio2 {
		return name
	}
	return name + "_ns"
}

var directionNames = [directions]string{"read", "write", "trim"}

// report returns fio's json+ report of one host, without other text, in fio's layout: one value on each line, " : "
// between key and value, six decimals.
func (r RunSpec) report(h int, jobs []Truth) []byte {
	ended, axis, of := r.reported(h), r.Log(h, 0).axis(), r.archive
	text := fmt.Appendf(nil, `{
  "fio version" : %q,
  "timestamp" : %d,
  "timestamp_ms" : %d,
  "time" : %q,
  "global options" : {
    "ioengine" : "rbd",
    "rw" : %q,
    "runtime" : "%d",
    "numjobs" : "%d",
    "direct" : "1",
    "bs" : "%dB",
    "iodepth" : "%d",
    "write_hist_log" : "output.0",
    "log_hist_msec" : "1000",
    "log_hist_coarseness" : "%d",
    "rate_iops" : "%d"
  },
  "jobs" : [`,
		axis.version(), ended.Unix(), ended.UnixMilli(), ended.Format(time.ANSIC),
		r.Mode, of.Seconds, of.Jobs, r.OpSize, r.IODepth, of.Coarseness, of.IOPS)
	for i, t := range jobs {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `
    {
      "jobname" : %q,
      "groupid" : 0,
      "error" : 0,
      "eta" : 0,
      "elapsed" : %d,
      "job options" : {
        "name" : %[1]q
      },`, r.jobName(h), t.RuntimeMs/1000+1)
		for d := range directionNames {
			text = appendDirection(text, t, d, r.OpSize, axis)
		}
		if !axis.fio2 {
			text = fmt.Appendf(text, `
      "sync" : {
        "total_ios" : 0,
        "lat_ns" : {%s
        }
      },
      "job_runtime" : %d,`, latencyText(nil, 0, axis), t.RuntimeMs)
		}
		text = fmt.Appendf(text, `
      "usr_cpu" : 0.700000,
      "sys_cpu" : 1.300000,
      "ctx" : %d,
      "majf" : 0,
      "minf" : 80,
      "latency_depth" : %d,
      "latency_target" : 0,
      "latency_percentile" : 100.000000,
      "latency_window" : 0
    }`, total(t.Whole(Read))+total(t.Whole(Write)), r.IODepth)
	}
	return append(text, "\n  ]\n}\n"...)
}

// reported returns when fio wrote the report: a few ms after the run's end.
func (r RunSpec) reported(h int) time.Time {
	return r.HostStart(h).Add(time.Duration(r.archive.Seconds)*time.Second + 4*time.Millisecond)
}

// submitNs is the submission latency of every request in nanoseconds: lat = slat + clat.
const submitNs = 4000

// appendDirection appends what a job's report has of a direction.
func appendDirection(text []byte, t Truth, direction, opSize int, axis axis) []byte {
	bins := t.Whole(direction)
	n := total(bins)
	ms, submit := uint64(0), submitNs/axis.unit()
	slat, clat := latencyText(nil, 0, axis), latencyText(bins, 0, axis)
	if n > 0 {
		ms = uint64(t.RuntimeMs)
		slat = statistics(submit, submit, float64(submit), 0, n)
		clat += ",\n          \"percentile\" : {"
		for i, at := range fioPercentiles(bins, n) {
			clat += fmt.Sprintf("\n            \"%.6f\" : %d,", fioPercentileList[i], middle(axis.edges, at))
		}
		clat = strings.TrimSuffix(clat, ",") + "\n          },\n          \"bins\" : {"
		var list []string
		for i, count := range bins {
			if count > 0 {
				list = append(list, fmt.Sprintf("\n            \"%d\" : %d", middle(axis.edges, i), count))
			}
		}
		clat += strings.Join(list, ",") + "\n          }"
	}
	size := n * uint64(opSize)
	return fmt.Appendf(text, `
      %q : {
        "io_bytes" : %d,
        "io_kbytes" : %d,
        "bw_bytes" : %d,
        "bw" : %d,
        "iops" : %f,
        "runtime" : %d,
        "total_ios" : %d,
        "short_ios" : 0,
        "drop_ios" : 0,
        %q : {%s
        },
        %q : {%s
        },
        %q : {%s
        }
      },`, directionNames[direction], size, size/1024, size*1000/max(1, ms), size*1000/1024/max(1, ms), float64(n)*1000/float64(max(1, ms)), ms, n,
		axis.field("slat"), slat, axis.field("clat"), clat, axis.field("lat"), latencyText(bins, submit, axis))
}

// latencyText returns the statistics of a latency. Each request is at the middle of its bin plus add.
func latencyText(bins []uint64, add uint64, axis axis) string {
	var low, high, all uint64
	var sum, squares, mean, deviation float64
	for i, n := range bins {
		if n == 0 {
			continue
		}
		v := middle(axis.edges, i) + add
		if all == 0 {
			low = v
		}
		high = v
		all += n
		sum += float64(v) * float64(n)
		squares += float64(v) * float64(v) * float64(n)
	}
	if all > 0 {
		mean = sum / float64(all)
		deviation = math.Sqrt(max(0, squares/float64(all)-mean*mean))
	}
	return statistics(low, high, mean, deviation, all)
}

func statistics(low, high uint64, mean, deviation float64, n uint64) string {
	return fmt.Sprintf(`
          "min" : %d,
          "max" : %d,
          "mean" : %f,
          "stddev" : %f,
          "N" : %d`, low, high, mean, deviation, n)
}

// textBefore returns what fio prints before the report with "json,normal".
func (r RunSpec) textBefore(h int) string {
	return fmt.Sprintf("%s: (g=0): rw=%s, bs=(R) %dB-%dB, (W) %dB-%dB, (T) %dB-%dB, ioengine=rbd, iodepth=%d\n...\n%s\nStarting %d processes\n",
		r.jobName(h), r.Mode, r.OpSize, r.OpSize, r.OpSize, r.OpSize, r.OpSize, r.OpSize, r.IODepth, r.Log(h, 0).axis().version(), r.archive.Jobs)
}

// textAfter returns the shortened text for people after the report.
func (r RunSpec) textAfter(h int, jobs []Truth) string {
	var b strings.Builder
	for i, t := range jobs {
		fmt.Fprintf(&b, "\n%s: (groupid=0, jobs=1): err= 0: pid=%d: %s\n", r.jobName(h), 1000+i, r.reported(h).Format(time.ANSIC))
		for d, name := range directionNames {
			if n := total(t.Whole(d)); n > 0 {
				fmt.Fprintf(&b, "  %s: IOPS=%d, BW=%dKiB/s\n", name, n*1000/uint64(t.RuntimeMs), n*uint64(r.OpSize)*1000/1024/uint64(t.RuntimeMs))
			}
		}
	}
	fmt.Fprintf(&b, "\nRun status group 0 (all jobs):\n   %s: run=%d-%dmsec\n", r.Mode, r.archive.Seconds*1000, r.archive.Seconds*1000)
	return b.String()
}

// fioPercentileList are fio's default percentiles.
var fioPercentileList = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// longDouble is the precision in bits of the type in which fio compares.
const longDouble = 64

// fioPercentiles returns the bin of each of fio's default percentiles: the first whose cumulative count reaches
// f/100*n. Here f is the double nearest to the percentile, and the rest is computed in fio's precision. So 99.95 is
// slightly more than 99.95, and a bin that ends exactly at the rank is not enough.
func fioPercentiles(bins []uint64, n uint64) []int {
	out := make([]int, len(fioPercentileList))
	count := new(big.Float).SetPrec(longDouble).SetUint64(n)
	at, cum := 0, bins[0]
	for i, f := range fioPercentileList {
		rank := new(big.Float).SetPrec(longDouble).SetFloat64(f)
		rank.Quo(rank, new(big.Float).SetPrec(longDouble).SetInt64(100))
		rank.Mul(rank, count)
		need, _ := rank.Uint64()
		if !rank.IsInt() {
			need++ // counts are whole, so reaching the rank means reaching the next whole number
		}
		for at < len(bins)-1 && cum < need {
			at++
			cum += bins[at]
		}
		out[i] = at
	}
	return out
}
