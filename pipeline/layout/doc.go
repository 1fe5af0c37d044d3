// Package layout says what names mean in archives of CBT and pbench-fio and in folders of people: which role a file may have by its name, and
// the place, host and settings that the folders above it name. CBT's YAML files complete the settings, and say where a folder's name ends
// and a host begins. It does not know which files are one run.
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
package layout
