//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

func init() {
	programs["fake-fio"] = fakeFio
	shellPrograms["fio"] = shortFio
}

// shortFio answers what run asks fio before a run, because a shell starts faster than this binary. With --parse-only it
// refuses an option with the value "wrong".
const shortFio = `#!/bin/sh
for option; do
	case $option in
	--version) echo "${FAKE_VERSION:-fio-3.33}"; exit ;;
	--parse-only) parses=yes ;;
	*=wrong) wrong=$option ;;
	esac
done
[ "$parses" ] || exec fake-fio "$@"
[ ! "$wrong" ] || { printf '        valid values: right\n\nfio: failed parsing %s\n' "$wrong" >&2; exit 1; }
`

// fakeFio replaces fio in scripts. It writes the 15 reports of a run of real fio, and its histogram logs, to the
// places that its options name. These reports came some milliseconds after whole seconds, so it waits for no signals if it is to be
// asked for reports. Variables change its behaviour:
//
//	FAKE_EXIT=N        its exit code
//	FAKE_KILLED=N      it is killed after N reports
//	FAKE_KILLS=N       it kills fio2es after N reports, and writes the others
//	FAKE_INTERRUPTS=N  it interrupts fio2es N times, and waits each time until it is interrupted
//	FAKE_SECRET=TEXT   its reports have the option http_s3_key with this value
//	FAKE_IF=TEXT       the variables above are in effect only if an argument contains the text
func fakeFio() {
	signal.Ignore(syscall.SIGPIPE) // a C program would inherit this from fio2es
	code, err := playFio(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "fio:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func number(variable string) int {
	if !strings.Contains(strings.Join(os.Args, " "), os.Getenv("FAKE_IF")) {
		return 0
	}
	n, _ := strconv.Atoi(os.Getenv(variable))
	return n
}

func playFio(args []string) (code int, err error) {
	value := func(option string) string {
		for _, a := range args {
			if v, ok := strings.CutPrefix(a, "--"+option+"="); ok {
				return v
			}
		}
		return ""
	}
	out := io.Writer(os.Stdout)
	if name := value("output"); name != "" {
		if out, err = os.Create(name); err != nil {
			return 0, err
		}
	}
	fmt.Fprintf(os.Stderr, "fio: options %s\n", strings.Join(args, " "))
	fmt.Fprintf(out, "fio-3.33\nStarting 2 processes\n")
	text, err := unpack("out.json.gz")
	if err != nil {
		return 0, err
	}
	prefix := value("write_hist_log")
	text = bytes.ReplaceAll(text, []byte(`"write_hist_log" : "out"`), fmt.Appendf(nil, `"write_hist_log" : %q`, prefix))
	for _, option := range []string{"bs", "iodepth"} {
		if v := value(option); v != "" {
			text = regexp.MustCompile(`"`+option+`" : "[^"]*"`).ReplaceAll(text, fmt.Appendf(nil, `"%s" : %q`, option, v))
		}
	}
	if secret := os.Getenv("FAKE_SECRET"); secret != "" {
		text = bytes.ReplaceAll(text, []byte(`"bs" : `), fmt.Appendf(nil, "\"http_s3_key\" : %q,\n        \"bs\" : ", secret))
	}
	reports := slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n}\n")), func(r []byte) bool { return len(r) == 0 })
	to, _ := os.Readlink("/proc/self/fd/1")
	if isAsked := strings.Contains(to+value("output"), ".grid"); !isAsked && value("status-interval") == "" {
		reports = reports[len(reports)-1:]
	}
	for i, report := range reports {
		if i == len(reports)-1 { // like fio, which writes its last report after all logs
			if err := playLogs(value("write_hist_log")); err != nil {
				return 0, err
			}
		}
		switch i + 1 {
		case number("FAKE_KILLED"):
			return 0, syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case number("FAKE_KILLS"):
			if err := syscall.Kill(os.Getppid(), syscall.SIGKILL); err != nil {
				return 0, err
			}
		}
		if _, err := out.Write(report); err != nil {
			return 0, err
		}
		if strings.Contains(value("output-format"), "normal") {
			fmt.Fprintf(out, "\nrw: (groupid=0, jobs=2): err= 0: report %d\n", i+1)
		}
	}
	if n := number("FAKE_INTERRUPTS"); n > 0 {
		if err := beInterrupted(n); err != nil {
			return 0, err
		}
		fmt.Fprintf(out, "\nfio: terminating on signal 2\n")
		code = 128
	}
	return max(code, number("FAKE_EXIT")), nil
}

// beInterrupted interrupts fio2es, and waits until fio2es passes the signal on.
func beInterrupted(times int) error {
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt)
	for range times {
		if err := syscall.Kill(os.Getppid(), syscall.SIGINT); err != nil {
			return err
		}
		<-got
	}
	return nil
}

func unpack(name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(os.Getenv("CORPUS"), "status-interval", name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// playLogs writes the histogram logs of two jobs.
func playLogs(prefix string) error {
	for job := 1; job <= 2 && prefix != ""; job++ {
		log, err := unpack(fmt.Sprintf("out_clat_hist.%d.log.gz", job))
		if err != nil {
			return err
		}
		if err := os.WriteFile(fmt.Sprintf("%s_clat_hist.%d.log", prefix, job), log, 0o644); err != nil {
			return err
		}
	}
	return nil
}
