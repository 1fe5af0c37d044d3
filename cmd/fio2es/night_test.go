package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nightOf makes an archive of CBT in today's layout, with stock reports: two clients and two volumes, a total I/O depth of 3.
// Volume v of client c serves 1000 + 100 c + 10 v requests in ten seconds.
func nightOf(t *testing.T, folder, workload string) (id string) {
	t.Helper()
	id = filepath.Join(folder, "results", "00000000", "id-0a1b2c3d")
	write := func(path, text string) {
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write(filepath.Join(folder, "results", "cbt_config.yaml"), "cluster:\n  clients: [c0, c1]\n")
	write(filepath.Join(id, "benchmark_config.yaml"), "cluster:\n  benchmark: librbdfio\n  iteration: 0\n  mode: write\n  time: 10\n  time_based: true\n"+
		"  volumes_per_client: 2\n  workloads:\n    "+workload+":\n      mode: randread\n      op_size: 4096\n      numjobs: [1]\n      total_iodepth: [3]\n")
	for c := range 2 {
		for v, depth := range []int{2, 1} {
			n := 1000 + 100*c + 10*v
			write(volumeFile(id, workload, c, v), fmt.Sprintf(`{"fio version": "fio-3.33", "timestamp_ms": 1795899834000, "jobs": [{"jobname": "cbt-fio-c%d-file-0", "elapsed": 10,
				"job options": {"rw": "randread", "bs": "4096B", "iodepth": "%d", "rbdname": "cbt-fio-c%d-%d", "ioengine": "rbd", "direct": "1", "runtime": "10"}, "job_runtime": 10000,
				"read": {"io_bytes": %d, "iops": %d, "runtime": 10000, "total_ios": %d, "clat_ns": {"min": 1000, "max": 9000000, "mean": 2000000, "stddev": 5, "N": %d}}}]}`,
				c, depth, c, v, n*4096, n/10, n, n))
		}
	}
	return id
}

func volumeFile(id, workload string, client, volume int) string {
	return filepath.Join(id, fmt.Sprintf("%s.c%d/rbdfio/numjobs-001/total_iodepth-3/iodepth-%06d/output.%d", workload, client, 2-volume, volume))
}

// TestNight: an archive of CBT is named after its folder, from wherever it is read, its depth is the total, and what its
// configuration promised and is not there is said.
func TestNight(t *testing.T) {
	t.Parallel()
	answer := func(want int, args ...string) (out, errs string) {
		t.Helper()
		var o, e strings.Builder
		if code := run(t.Context(), args, strings.NewReader(""), &o, &e); code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, &o, &e)
		}
		return o.String(), e.String()
	}
	dir := t.TempDir()
	lab, history := filepath.Join(dir, "lab"), filepath.Join(dir, "h.db")
	id := nightOf(t, filepath.Join(lab, "night1"), "4kread")
	const columns = "run,archive,name,path,requests,iops,mean,iodepth,total_iodepth,state"
	list := func(file string) string {
		text, _ := answer(0, "runs", "--history", file, "--format", "csv", "--columns", columns)
		return text
	}
	answer(0, "ingest", "--history", history, lab)
	whole := list(history)
	expect(t, "the run", whole, ",night1,0/id-0a1b2c3d/4kread/rbdfio/numjobs-001/total_iodepth-3,results/00000000/id-0a1b2c3d/4kread/rbdfio/numjobs-001/total_iodepth-3,read,4220,422,2000,,3,no windows,")
	if strings.Count(whole, "\n") != 2 {
		t.Errorf("runs:\n%s", whole)
	}
	if _, errs := answer(0, "ingest", "--history", history, filepath.Join(lab, "night1")); !strings.Contains(errs, "0 runs stored") || list(history) != whole {
		t.Errorf("named by itself:\n%s%s", errs, list(history))
	}
	check(t, os.Rename(lab, lab+"2"))
	lab += "2"
	id = strings.Replace(id, filepath.Join(dir, "lab"), lab, 1)
	for _, path := range []string{lab, filepath.Join(lab, "night1", "results"), filepath.Join(lab, "night1", "results", "00000000")} {
		own := filepath.Join(dir, "own.db")
		check(t, os.RemoveAll(own))
		if answer(0, "ingest", "--history", own, path); path != filepath.Join(lab, "night1", "results", "00000000") && list(own) != whole {
			t.Errorf("%s:\n%s, want\n%s", path, list(own), whole)
		}
		answer(0, "ingest", "--history", history, path)
		if list(history) != whole {
			t.Errorf("%s again:\n%s", path, list(history))
		}
	}
	table, _ := answer(0, "runs", "--history", history, "--by", "bs,iodepth", "--show", "iops")
	expect(t, "the matrix", table, "IOPS of reads by bs and total_iodepth", `BS\TOTAL_IODEPTH    3`)
	_, errs := answer(0, "runs", "--history", history, "--where", "iodepth=3 and bs=4k")
	expect(t, "the hint", errs, "iodepth=3: no run (but 1 run with total_iodepth=3")

	// A killed fio, a volume and a client without files.
	lost := nightOf(t, filepath.Join(dir, "lost"), "4kread")
	check(t, os.WriteFile(volumeFile(lost, "4kread", 1, 1), nil, 0o644))
	_, errs = answer(3, "ingest", "--history", filepath.Join(dir, "lost.db"), filepath.Join(dir, "lost"))
	expect(t, "a killed fio", errs, "3 of 4 volumes: nothing of volume 1 of c1: output.1 is empty, because fio was killed")
	check(t, os.Remove(volumeFile(lost, "4kread", 0, 0)))
	out, errs := answer(3, "compare", filepath.Join(lab, "night1"), filepath.Join(dir, "lost"))
	expect(t, "compare", out, "(incomplete, 2 of 4 volumes", " -50.0 %")
	expect(t, "compare", errs, "jobs 2, not 4", "nothing of volume 0 of c0: no output")
	check(t, os.RemoveAll(filepath.Join(lost, "4kread.c1")))
	_, errs = answer(3, "percentiles", "--total", filepath.Join(dir, "lost"))
	expect(t, "a client without files", errs, "1 of 2 clients, 1 of 4 volumes: no files of c1, which the configuration names; nothing of volume 0 of c0: no output")

	// The layout says what volumes are, and fio's report what an unlisted workload did.
	check(t, os.Remove(filepath.Join(id, "benchmark_config.yaml")))
	out, _ = answer(3, "percentiles", "--total", filepath.Join(lab, "night1"), "--format", "csv")
	if strings.Count(out, "\n") != 2 || !strings.Contains(out, ",4220,") {
		t.Errorf("without a configuration:\n%s", out)
	}
	check(t, os.WriteFile(filepath.Join(id, "benchmark_config.yaml"), []byte("cluster:\n  benchmark: librbdfio\n  mode: write\n  op_size: 8192\n  workloads: {other: {mode: write}}\n"), 0o644))
	answer(0, "ingest", "--history", filepath.Join(dir, "unlisted.db"), lab)
	out, _ = answer(0, "runs", "--history", filepath.Join(dir, "unlisted.db"), "mode=randread and bs=4k and total_iodepth=3")
	expect(t, "an unlisted workload", out, "randread 4K total-qd3")

	// What CBT leaves out of its reports, and a fio that was stopped.
	pre := nightOf(t, filepath.Join(dir, "pre"), "precondition")
	for c := range 2 {
		for v := range 2 {
			path := volumeFile(pre, "precondition", c, v)
			text, err := os.ReadFile(path)
			check(t, err)
			check(t, os.WriteFile(path, []byte(strings.ReplaceAll(strings.ReplaceAll(string(text), "untime\": 10000", "untime\": 4000"), `"elapsed": 10`, `"elapsed": 4`)), 0o644))
		}
	}
	_, errs = answer(0, "ingest", "--history", filepath.Join(dir, "pre.db"), filepath.Join(dir, "pre"))
	expect(t, "a stopped fio", errs, "4 of 4 jobs ended before the time that was set, after 4.0 s at most, not 10.0 s")
	out, _ = answer(0, "runs", "--history", filepath.Join(dir, "pre.db"), "state=precondition")
	expect(t, "precondition", out, "precondition, no windows")
}
