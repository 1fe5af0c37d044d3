package doctor

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestCheckCBT: what a YAML file of CBT gives, and the line that keeps everything.
func TestCheckCBT(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		lost       string // words of [kinds]
		change     string // empty: nothing is lost
	}{
		{"as CBT is: a log of each completion", "librbdfio: {time: 300}", "", ""},
		{"averages", "librbdfio: {time: 300, log_avg_msec: 100}", "time whole", "cmd_path: /usr/local/bin/fio2es-fio"},
		{"averages, of several runs", "librbdfio: {numjobs: [1, 4], log_avg_msec: [100, 1000]}", "time whole", "cmd_path: /usr/local/bin/fio2es-fio"},
		{"no logs", "librbdfio: {log_lat: False, log_bw: False, log_iops: False}", "time whole", "cmd_path: /usr/local/bin/fio2es-fio"},
		{"the script", "librbdfio: {cmd_path: /usr/local/bin/fio2es-fio, log_avg_msec: 100}", "", ""},
		{"the script with a variable", "librbdfio: {cmd_path: env FIO2ES_SHIM_FIO=/opt/fio/fio /usr/local/bin/fio2es-fio, log_avg_msec: 100}", "", ""},
		{"the script in a folder of its own", "fio: {cmd_path: /usr/local/lib/fio2es/fio, log_avg_msec: 100}", "", ""},
		{"options in the command", "librbdfio: {cmd_path: /usr/bin/fio --thread, log_avg_msec: 5}", "time whole", "cmd_path: /usr/local/bin/fio2es-fio --thread"},
		{"another fio", "librbdfio: {cmd_path: /opt/fio/fio, log_avg_msec: 5}", "time whole", "cmd_path: env FIO2ES_SHIM_FIO=/opt/fio/fio /usr/local/bin/fio2es-fio"},
		{"fio without logs", "fio: {logging: False}", "time whole", "cmd_path: /usr/local/bin/fio2es-fio"},
		{"rbdfio", "rbdfio: {}", "start", "cmd_path: /usr/local/bin/fio2es-fio --output-format=json+,normal"},
		{"rbdfio with the script", "rbdfio: {cmd_path: '/usr/local/bin/fio2es-fio --output-format=json+,normal'}", "", ""},
		{"rbdfio with half of it", "rbdfio: {cmd_path: /usr/local/bin/fio2es-fio}", "end start", "cmd_path: /usr/local/bin/fio2es-fio --output-format=json+,normal"},
		{"rawfio", "rawfio: {log_avg_msec: 100}", "", ""},
		{"rawfio with its usual command", "rawfio: {fio_cmd: sudo /usr/bin/fio, log_lat: False}", "time whole", "fio_cmd: sudo /usr/local/bin/fio2es-fio"},
		{"kvmrbdfio", "kvmrbdfio: {fio_cmd: /usr/local/bin/fio2es-fio --output-format=json+}", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all, err := CheckCBT("cbt.yaml", []byte("cluster: {user: x}\nbenchmarks:\n  "+tt.yaml+"\n"))
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			if got := lostBy(all); got != tt.lost {
				t.Errorf("got %s: %s", got, text(&all[0]))
			}
			benchmark, config, _ := strings.Cut(tt.yaml, ":")
			changes := changesOf(all)
			isSet := strings.Contains(config, "_path:") || strings.Contains(config, "_cmd:")
			switch {
			case tt.change == "":
				if len(changes) > 0 {
					t.Errorf("to do %q: %s", changes, text(&all[0]))
				}
				return
			case len(changes) != 1 || !strings.HasSuffix(changes[0], " "+tt.change) || !strings.HasPrefix(changes[0], "cbt.yaml, "+benchmark+": ") ||
				isSet != strings.Contains(changes[0], ": change "):
				t.Errorf("to do %q: %s", changes, text(&all[0]))
			}
			again, err := CheckCBT("cbt.yaml", []byte("benchmarks:\n  "+benchmark+": {"+tt.change+", fio_out_format: json}\n"))
			if err != nil || len(Causes(again)) > 0 {
				t.Errorf("with the change: %v, %+v", err, again)
			}
		})
	}
}

// TestRowsOfCBT: clients begin apart, so doctor names the rows that fio2es-fio would choose.
func TestRowsOfCBT(t *testing.T) {
	const own = "/usr/bin/fio --write_hist_log=o --log_hist_msec="
	for yaml, want := range map[string]string{
		"{time: 300, mode: randrw, numjobs: 2, cmd_path: '" + own + "1000'}":                         "rows of 100ms than of 1s (log_hist_msec=100, log_hist_coarseness=2)",
		"{time: 300, mode: randrw, numjobs: 4, cmd_path: '" + own + "2000'}":                         "rows of 250ms than of 2s",
		"{time: 3600, mode: randrw, numjobs: 4, cmd_path: '" + own + "5000'}":                        "rows of 1s than of 5s (log_hist_msec=1000)",
		"{time: 3600, mode: randrw, numjobs: 4, cmd_path: '" + own + "1000'}":                        "",
		"{time: 300, mode: randrw, cmd_path: '" + own + "100 --log_hist_coarseness=2'}":              "",
		"{time: 300, mode: randrw, cmd_path: /usr/local/bin/fio2es-fio}":                             "",
		"{time: 300, mode: randrw, cmd_path: /usr/local/bin/fio2es-fio, fio_out_format: normal}":     "end of each job (up to 100ms",
		"{mode: randrw, cmd_path: /usr/local/bin/fio2es-fio --output-format=normal, log_lat: false}": "",
	} {
		all, err := CheckCBT("x", []byte("benchmarks: {librbdfio: "+yaml+"}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := text(&all[0]); want != "" && !strings.Contains(got, want) || want == "" && strings.Contains(got, "rows of") {
			t.Errorf("%s: %s", yaml, got)
		}
	}
}

// changesOf returns the changes of all causes, each once.
func changesOf(all []Answers) (list []string) {
	for _, f := range together(all) {
		for _, c := range f.Changes {
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// TestFormat: if CBT asks only for a report in text, the advice adds JSON to it.
func TestFormat(t *testing.T) {
	for yaml, want := range map[string][]string{
		"{fio_out_format: normal}":                                      {"x, librbdfio: add cmd_path: /usr/local/bin/fio2es-fio", "x, librbdfio: change fio_out_format: normal to fio_out_format: json+,normal"},
		"{fio_out_format: normal, cmd_path: /usr/local/bin/fio2es-fio}": {"x, librbdfio: change fio_out_format: normal to fio_out_format: json+,normal"},
	} {
		all, err := CheckCBT("x", []byte("benchmarks: {librbdfio: "+yaml+"}"))
		if got := changesOf(all); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", yaml, got, err, want)
		}
	}
}

func TestOtherYAML(t *testing.T) {
	one, err := CheckCBT("benchmark_config.yaml", []byte("cluster: {benchmark: librbdfio, time: 10}\n"))
	if err != nil || len(one) != 1 || one[0].Of != "librbdfio" || len(one[0].Found) > 0 {
		t.Errorf("the configuration of one benchmark: %+v, %v", one, err)
	}
	two, err := CheckCBT("x", []byte("benchmarks: {radosbench: {time: 10}, librbdfio: {}}"))
	if err != nil || len(two) != 2 || two[1].Of != "radosbench" || len(two[1].Found) != 1 || len(changesOf(two)) != 0 {
		t.Errorf("a benchmark without fio: %+v, %v", two, err)
	}
	for _, yaml := range []string{"", "a: b", "[1]", "benchmarks: 3", "benchmarks: {}", "benchmarks: {librbdfio: {cmd_path: /bin/true}}", "\t"} {
		if all, err := CheckCBT("x.yaml", []byte(yaml)); err == nil || !strings.Contains(err.Error(), "x.yaml: ") {
			t.Errorf("%q: %+v, %v", yaml, all, err)
		}
	}
	if _, err := CheckCBT("x.yaml", []byte("a: b")); !errors.Is(err, ErrNotCBT) {
		t.Errorf("another yaml: %v", err)
	}
}

func FuzzCheckCBT(f *testing.F) {
	f.Add("benchmarks: {librbdfio: {cmd_path: /usr/local/bin/fio2es-fio --x=1, numjobs: [1, 2], time: 5, log_lat: off}}")
	f.Add("cluster: {benchmark: rbdfio, cmd_path: sudo fio, fio_out_format: 3.5}")
	f.Fuzz(func(t *testing.T, yaml string) {
		all, err := CheckCBT("x.yaml", []byte(yaml))
		if (err == nil) != (len(all) > 0) {
			t.Errorf("%v of %d benchmarks", err, len(all))
		}
	})
}
