package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal returns a terminal of 80 times 24 characters. What is written to terminal can be read from screen.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { screen.Close() })
	ioctl := func(request uintptr, value unsafe.Pointer) {
		if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(value)); err != 0 {
			t.Skip(err)
		}
	}
	unlock, number := int32(0), uint32(0)
	size := [4]uint16{24, 80}
	ioctl(syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	ioctl(syscall.TIOCGPTN, unsafe.Pointer(&number))
	ioctl(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Skip(err)
	}
	return screen, terminal
}

// TestRunOnTerminal: run shows a live view, and restores the terminal however fio ends. Messages of fio and
// fio2es come after the view.
func TestRunOnTerminal(t *testing.T) {
	corpus, err := filepath.Abs(filepath.Join("..", "..", "testdata", "corpus"))
	check(t, err)
	for name, tt := range map[string]struct {
		with string
		code int
	}{
		"ends": {"FAKE_EXIT=0", 0}, "fails": {"FAKE_EXIT=3", 3}, "is killed": {"FAKE_KILLED=9", 137}, "is interrupted": {"FAKE_INTERRUPTS=1", 128},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			screen, terminal := openTerminal(t)
			var stdout, shown bytes.Buffer
			p := exec.Command("fio2es", "run", "--rule", "read.p99 <= 1s", "--", "fio", "--name=rw", "--runtime=10")
			p.Env = append(os.Environ(), tt.with, "CORPUS="+corpus, "XDG_DATA_HOME="+t.TempDir(), "TERM=xterm", "NO_COLOR=1")
			p.Stdout, p.Stderr = &stdout, terminal
			check(t, p.Start())
			terminal.Close()
			_, _ = io.Copy(&shown, screen) // returns an error when the last program closes the terminal
			_ = p.Wait()
			text := shown.String()
			if p.ProcessState.ExitCode() != tt.code {
				t.Errorf("exit code %d, want %d\n%s", p.ProcessState.ExitCode(), tt.code, text)
			}
			begin, end := "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
			_, view, ok := strings.Cut(text, begin)
			view, rest, ended := strings.Cut(view, end)
			if !ok || !ended || strings.Contains(rest, begin) {
				t.Fatalf("the terminal is not as it was:\n%q", text)
			}
			expect(t, "the view", view, "fio --name=rw --runtime=10", "waiting for fio's first reports")
			expect(t, "what follows it", rest, "fio: options --write_hist_log=", "--eta=never", "RUN ", " read ", "next: ")
			if strings.Contains(view, "options") || strings.Contains(stdout.String(), "\x1b") {
				t.Errorf("stdout %q, view %q", &stdout, view)
			}
		})
	}
}

// TestWatchOnTerminal: the rows of a run that is over are printed when the terminal is restored.
func TestWatchOnTerminal(t *testing.T) {
	t.Parallel()
	screen, terminal := openTerminal(t)
	env := append(os.Environ(), "XDG_DATA_HOME="+t.TempDir(), "TERM=xterm", "NO_COLOR=1")
	ingest := exec.Command("fio2es", "ingest", filepath.Join("..", "..", "testdata", "corpus", "stonewall"))
	ingest.Env = env
	check(t, ingest.Run())
	p := exec.Command("fio2es", "watch", "latest")
	p.Env, p.Stdout, p.Stderr = env, terminal, terminal
	check(t, p.Start())
	terminal.Close()
	var shown bytes.Buffer
	_, _ = io.Copy(&shown, screen) // returns an error when the last program closes the terminal
	check(t, p.Wait())
	_, rest, ok := strings.Cut(shown.String(), "\x1b[?25h\x1b[?1049l")
	if !ok {
		t.Fatalf("the terminal is not as it was:\n%q", &shown)
	}
	expect(t, "what follows the view", rest, "RUN ", " read ", " write ") // of both stages
}
