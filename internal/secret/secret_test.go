package secret

import (
	"strings"
	"testing"
)

func TestIsName(t *testing.T) {
	for _, name := range strings.Fields(`http_pass http_s3_key http_s3_sse_customer_key http_s3_security_token http_swift_auth_token
		password Password PASSWORD passwd passphrase pass pwd root_pw userPassword dbpassword db-password cluster.rgw.password
		secret secret_key secretKey client_secret AWS_SECRET_ACCESS_KEY access_key accessKey api_key apiKey apikey key auth_key
		private_key ssh_keys api_keys token tokens auth_token X-Auth-Token credentials Authorization psk X-Amz-Signature sig`) {
		if !IsName(name) {
			t.Errorf("%s is a secret", name)
		}
	}
	for _, name := range strings.Fields(`keyring keyring_path admin_keyring key_size key_sizes keysize keys num_keys key_count max_tokens key_file
		http_user http_s3_keyid http_s3_region http_s3_sse_customer_algorithm http_s3_storage_class https http_host http_mode
		password_file token_ttl token_bucket_rate secret_name ssh_key_path key_id passes pass_count bypass_cache passthrough
		compass monkey author authors auth auth_type authority signal design nfs_url uri filename rw iodepth pw_size . _ -`) {
		if IsName(name) {
			t.Errorf("%s is no secret", name)
		}
	}
	if IsName("") {
		t.Error("a setting without a name is no secret")
	}
}

// TestOptionsOfFio: of all options of fio's jobs and of its engines, which are here but for those of profiles, none but
// those of the engine http is a secret.
func TestOptionsOfFio(t *testing.T) {
	for _, name := range strings.Fields(`description name wait_for filename lockfile directory filename_format unique_filename opendir rw bs ba
		bsrange bssplit bs_unaligned randrepeat randseed norandommap ignore_error rw_sequencer ioengine iodepth iodepth_batch
		iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low serialize_overlap io_submit_mode size io_size fill_device
		filesize file_append offset offset_increment offset_align number_ios random_generator random_distribution percentage_random
		allrandrepeat nrfiles file_service_type openfiles fallocate fadvise_hint fsync fdatasync write_barrier sync_file_range direct
		atomic buffered overwrite loops numjobs startdelay runtime time_based verify_only ramp_time clocksource mem verify do_verify
		verify_interval verify_offset verify_pattern verify_fatal verify_dump verify_async verify_backlog verify_backlog_batch
		experimental_verify verify_state_load verify_state_save trim_percentage trim_verify_zero trim_backlog trim_backlog_batch
		write_iolog read_iolog read_iolog_chunked replay_no_stall replay_redirect replay_scale replay_align replay_time_scale
		replay_skip merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters exec_prerun exec_postrun ioscheduler zonemode
		zonesize zonecapacity zonerange zoneskip read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits
		zone_reset_threshold zone_reset_frequency lockmem rwmixread rwmixwrite nice prio prioclass thinktime thinktime_spin
		thinktime_blocks thinktime_blocks_type thinktime_iotime rate rate_min rate_process rate_cycle rate_ignore_thinktime rate_iops
		rate_iops_min max_latency latency_target latency_window latency_percentile latency_run invalidate sync write_hint
		create_serialize create_fsync create_on_open create_only allow_file_create allow_mounted_write pre_read cpumask cpus_allowed
		cpus_allowed_policy numa_cpu_nodes numa_mem_policy end_fsync fsync_on_close unlink unlink_each_loop exitall exit_what
		exitall_on_error stonewall new_group thread per_job_logs write_bw_log bwavgtime write_lat_log write_iops_log iopsavgtime
		log_entries log_avg_msec log_hist_msec log_hist_coarseness write_hist_log log_max_value log_offset log_prio log_compression
		log_compression_cpus log_store_compressed log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id
		block_error_percentiles group_reporting stats zero_buffers refill_buffers scramble_buffers buffer_pattern
		buffer_compress_percentage buffer_compress_chunk dedupe_percentage dedupe_mode dedupe_working_set_percentage dedupe_global
		clat_percentiles lat_percentiles slat_percentiles percentile_list significant_figures disk_util gtod_reduce disable_lat
		disable_clat disable_slat disable_bw_measurement gtod_cpu unified_rw_reporting continue_on_error error_dump profile cgroup
		cgroup_nodelete cgroup_weight uid gid kb_base unit_base hugepage-size flow_id flow flow_sleep steadystate
		steadystate_duration steadystate_ramp_time
		cpuload cpuchunks cpumode exit_on_io_done thp hipri hipri_percentage uncached nowait hostname port protocol nodelay listen
		pingpong interface ttl window_size mss stat_type program arguments grace_time std_redirect donorname inplace volume brick
		single-instance skip_bad readfua writefua sg_write_mode stream_id cmdprio_percentage cmdprio_class cmdprio cmdprio_bssplit
		fixedbufs registerfiles sqthread_poll sqthread_poll_cpu nonvectored force_async cmd_type uri userspace_reap bindname verb
		clustername pool clientname conf busy_poll touch_objects rbdname
		https http_host http_user http_s3_keyid http_s3_region http_s3_sse_customer_algorithm http_s3_storage_class http_mode
		http_verbose http_object_mode nfs_url cont chunk_size object_class svcl namenode hdfsdirectory
		libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries libblkio_queue_size libblkio_pre_start_props
		libblkio_vectored libblkio_wait_mode xnvme_async xnvme_sync xnvme_admin xnvme_dev_nsid xnvme_dev_subnqn xnvme_mem
		md_per_io_size pi_act pi_chk apptag apptag_mask write_mode verify_mode deallocate`) {
		if IsName(name) {
			t.Errorf("%s of fio is no secret", name)
		}
	}
}

func TestValue(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"http_pass", "hunter2", "***"},
		{"http_pass", "", ""},
		{"bs", "4k", "4k"},
		{"filename", "/dev/sda:/dev/sdb", "/dev/sda:/dev/sdb"},
		{"filename", "/mnt/key:/mnt/b", "/mnt/key:/mnt/b"},
		{"filename", "/dev/disk/by-id/wwn-0x5000", "/dev/disk/by-id/wwn-0x5000"},
		{"filename", `iscsi\://me%hunter2@host/iqn.2026/0`, `iscsi\://me%***@host/iqn.2026/0`},
		{"filename", `http\://me\:hunter2@host/x`, `http\://me\:***@host/x`},
		{"nfs_url", "nfs://host/share?uid=1", "nfs://host/share?uid=1"},
		{"nfs_url", "nfs://host:2049/share@snap", "nfs://host:2049/share@snap"},
		{"uri", "nbd+unix:///disk?socket=/tmp/s", "nbd+unix:///disk?socket=/tmp/s"},
		{"uri", "nbds://me:hunter2@host:10809/disk", "nbds://me:***@host:10809/disk"},
		{"uri", "https://me:hun/t@er2@host/x", "https://me:***@host/x"},
		{"uri", "https://me@host/x", "https://me@host/x"},
		{"uri", "http://[::1]:80/a@b", "http://[::1]:80/a@b"},
		{"uri", "http://a:b@one http://c:d@two", "http://a:***@one http://c:***@two"},
		{"uri", "https://host/x?a=1&token=hunter2&b=2", "https://host/x?a=1&token=***&b=2"},
		{"uri", "://", "://"},
		{"config", "username=me;password=hunter2;url=http://host/auth", "username=me;password=***;url=http://host/auth"},
		{"config", `{"user": "me", "password": "hun\"ter2", "n": 1}`, `{"user": "me", "password": "***", "n": 1}`},
		{"config", "user: me\npassword: hunter2\nsize: 1", "user: me\npassword: ***\nsize: 1"},
		{"exec_prerun", "curl -H 'Authorization: Bearer hunter2' http://host", "curl -H 'Authorization: Bearer ***' http://host"},
		{"exec_prerun", "curl -u me:hunter2 https://host", "curl -u me:*** https://host"},
		{"exec_prerun", "mc alias --secret-key hunter2 --insecure", "mc alias --secret-key *** --insecure"},
		{"exec_prerun", "login --password --insecure", "login --password --insecure"},
		{"exec_prerun", "env AWS_SECRET_ACCESS_KEY=hunter2 sync", "env AWS_SECRET_ACCESS_KEY=*** sync"},
		{"exec_prerun", "echo 3 > /proc/sys/vm/drop_caches", "echo 3 > /proc/sys/vm/drop_caches"},
		{"cmd_path", "ceph --keyring=/etc/ceph/keyring --key-size=3", "ceph --keyring=/etc/ceph/keyring --key-size=3"},
		{"description", "the token is in the drawer", "the token is in the drawer"},
		{"description", "password", "password"},
		{"description", `"credentials" : {`, `"credentials" : {`},
		{"random_distribution", "zoned:60/10:30/20:8/30:2/40", "zoned:60/10:30/20:8/30:2/40"},
	} {
		if got := Value(tt.name, tt.value); got != tt.want {
			t.Errorf("%s=%s becomes %s, want %s", tt.name, tt.value, got, tt.want)
		}
		if got := Value(tt.name, Value(tt.name, tt.value)); got != tt.want {
			t.Errorf("%s=%s becomes %s when it is hidden twice", tt.name, tt.value, got)
		}
	}
}
