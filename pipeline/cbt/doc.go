// Package cbt says what an archive means: which files make up a run, on which host,
// volume and job each log was written, and with which settings the run was made.
//
// Names decide, and CBT's YAML files where names do not suffice. Archives that CBT did not
// make are folders of fio's logs, with one run for each folder and log prefix. Options in
// reports and job files name logs. So they show which prefixes are of one run, and to which
// run a report belongs. A report that no log fits is a run, too. Several prefixes are one run
// only if one report names them, or if they were written at the same time.
//
// No guess is silent. Files that belong to no run are in [Archive.Left] with the reason,
// benchmarks that are not fio's in [Archive.Skipped]. What is likely but not certain is in
// [Run.Doubts]. A report that may be of another execution is a candidate.
//
// Files become runs in steps, which [Read] lists. First the folders above a file and its name say what it is and, for
// logs and for reports of CBT and pbench-fio, which run has it. Outside of their layouts other reports and job files are
// clues: those that name logs of several runs make them one, and the reports go to runs. After that runs are split
// whose prefixes ran at different times. In the end copies are dropped.
//
// CBT, the Ceph Benchmarking Tool, writes
//
//	results/cbt_config.yaml                               the whole configuration
//	results/00000000/id-7c1f03ab/benchmark_config.yaml    iteration, configuration of one benchmark
//	results/00000000/id-7c1f03ab/…/output.V_clat_hist.J.log.HOST
//
// where V is a volume, endpoint or device process (rbdfio has none) and J a job of fio.
// HOST, which may be a name with dots, is appended to what lies topmost in the folder
// that CBT collects from the hosts. That is the files, also where folders above them name
// the settings; but with workloads it is the first folder, and the files have no host:
//
//	id-…/output.V_…                                                        librbdfio, fio
//	id-…/osd_ra-N/op_size-N/concurrent_procs-N/iodepth-N/MODE/output.V_…   librbdfio before 2017
//	id-…/raw_ra-N/op_size-N/concurrent_procs-N/iodepth-N/MODE/output.V_…   rawfio
//	id-…/osd_ra-N/client_ra-N/op_size-N/…/MODE/output.V_…                  kvmrbdfio
//	id-…/rbdfio/osd_ra-N/client_ra-N/op_size-N/…/MODE/output_…             rbdfio
//	id-…/WORKLOAD.HOST/numjobs-N/total_iodepth-N/iodepth-N/output.V_…      workloads
//	id-…/MODE_OPSIZE.HOST/iodepth-N/numjobs-N/output.V_…                   workloads
//
// Archives of pbench-fio have a folder for each sample, which is one run:
//
//	ITERATION/sampleN/{fio.job,fio-result.txt,clients/HOST/fio_clat_hist.J.log}
//
// A total_iodepth that the volumes do not divide evenly makes two iodepth folders of one
// execution, with some volumes in each: they are one run.
package cbt
