package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/testcost"
)

func TestMain(m *testing.M) {
	// so that golden files are the same for every build
	release, commit, date = "v0.0.0-test", "0123456789abcdef", "2026-11-22T00:00:00Z"
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if main := programs[name]; main != nil {
		debug.SetGCPercent(100) // as in use
		main()
	}
	testcost.Lower()
	// A shell that starts tests in the background has them ignore this signal, and so the programs that they start.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	os.Exit(isolated(m))
}

// programs are what this binary is under other names, in the PATH of tests. They end the process.
var programs = map[string]func(){
	"fio2es": main,
}

// shellPrograms are more programs in the PATH of tests, as scripts.
var shellPrograms = map[string]string{}

var emptySettings string

// isolated runs tests without the user's settings and history, and with the programs in PATH.
func isolated(m *testing.M) int {
	home, err := os.MkdirTemp("", "fio2es")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		os.Setenv(name, home)
	}
	emptySettings = filepath.Join(home, "empty.yaml")
	if err := os.WriteFile(emptySettings, nil, 0o600); err != nil {
		panic(err)
	}
	if err := install(filepath.Join(home, "bin")); err != nil {
		panic(err)
	}
	return m.Run()
}

// install makes a folder with the programs, and puts it first in PATH.
func install(bin string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	for name := range programs {
		file := filepath.Join(bin, name)
		if runtime.GOOS == "windows" {
			file += ".exe"
		}
		if os.Link(self, file) != nil { // on another disk
			if err := os.Symlink(self, file); err != nil {
				return err
			}
		}
	}
	for name, script := range shellPrograms {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			return err
		}
	}
	return os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}
