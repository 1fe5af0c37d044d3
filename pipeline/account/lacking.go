package account

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// lacking says what of CBT's clients and volumes has no requests here, in a few words ("3 of 4 volumes") and for a message. Both
// are empty if nothing lacks. Clients are those of the configuration, unless it is of other hosts.
// Volumes are those of the configuration, and those of output.V, which may be empty. isLost is false if only whole clients lack:
// these may not have taken part.
func (r *Read) lacking() (short, text string, isLost bool) {
	p := r.Plan
	if p.Stages > 1 || r.Alone {
		return "", "", false
	}
	type volume struct{ host, name string }
	have, hosts := map[volume]bool{}, []string(nil)
	see := func(host, name string) {
		if have[volume{host, name}] = true; !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	for _, j := range p.Jobs {
		if j.Entry != nil || j.HasRows {
			see(j.Host, j.Volume)
		}
	}
	for _, log := range p.Averages {
		see(log.Host, log.Volume)
	}
	clients := p.Run.MissingHosts()
	var lost []volume
	lose := func(v volume) {
		if !have[v] && !slices.Contains(lost, v) {
			lost = append(lost, v)
		}
	}
	empty := map[volume]string{}
	for _, f := range p.Run.EmptyReports() {
		v := volume{f.Host, f.Volume}
		if lose(v); !have[v] {
			empty[v] = cmp.Or(empty[v], path.Base(f.File.Path))
		}
	}
	for _, host := range slices.Concat(hosts, clients) {
		for n := range p.Run.VolumesPerClient() {
			lose(volume{host, fmt.Sprint(n)})
		}
	}
	var shorts, texts []string
	if len(clients) > 0 {
		named := slices.DeleteFunc(slices.Clone(p.Run.HostNames()), func(host string) bool {
			return slices.ContainsFunc(clients, func(c string) bool { return assign.SameHost(c, host) })
		})
		shorts = append(shorts, fmt.Sprintf("%d of %s", len(named), unit.Plural(len(named)+len(clients), "client")))
		texts = append(texts, fmt.Sprintf("no files of %s, which the configuration names", strings.Join(clients, ", ")))
	}
	of := map[string][]string{} // volumes by what is said of them
	for _, v := range lost {
		if slices.Contains(clients, v.host) {
			continue
		}
		why := "no output"
		if name := empty[v]; name != "" {
			why = name + " is empty, because fio was killed before it wrote its report"
		}
		name := "volume " + v.name
		if v.host != "" {
			name += " of " + v.host
		}
		of[why] = append(of[why], name)
	}
	if len(of) > 0 {
		shorts = append(shorts, fmt.Sprintf("%d of %s", len(have), unit.Plural(len(have)+len(lost), "volume")))
		for _, why := range slices.Sorted(maps.Keys(of)) {
			texts = append(texts, fmt.Sprintf("nothing of %s: %s", unit.List(of[why], 4, ", "), why))
		}
	}
	short = strings.Join(shorts, ", ")
	if short != "" {
		text = fmt.Sprintf("%s: %s; its totals are those of the others: copy what is missing into the archive", short, strings.Join(texts, "; "))
	}
	return short, text, len(of) > 0
}

// stopped says which jobs ended before their time, or is empty.
func (r *Read) stopped() string {
	n, ran, want := 0, int64(0), int64(0)
	for _, j := range r.Plan.Jobs {
		set := r.Plan.WantedTime(j)
		if late := set - j.Ran; set > 0 && j.Ran > 0 && late > max(set/20, 1000) && r.Report(j.Entry).Requests() > 0 {
			n, ran, want = n+1, max(ran, j.Ran), max(want, set)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s ended before the time that was set, after %.1f s at most, not %.1f s: fio was stopped (SIGINT, as CBT does when a "+
		"recovery test is over), so the numbers are of that time", n, unit.Plural(len(r.Plan.Jobs), "job"), seconds(ran), seconds(want))
}
