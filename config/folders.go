package config

import (
	"os"
	"path/filepath"
	"runtime"
)

// userFolder returns fio2es's folder for one kind of files: XDG_CONFIG_HOME for settings, XDG_DATA_HOME for the history,
// XDG_STATE_HOME for what can be removed. It is "" if the user has no home.
func userFolder(kind string) string {
	home, _ := os.UserHomeDir()
	base := baseFolder(runtime.GOOS, kind, home, os.Getenv)
	if base == "" {
		return ""
	}
	return filepath.Join(base, "fio2es")
}

// baseFolder returns the folder of all programs for one kind of files: the one that the variable names, else the one of the system.
// Windows copies settings to other machines of the user, and keeps other files here; macOS has one folder for all.
func baseFolder(system, kind, home string, getenv func(string) string) string {
	if dir := getenv(kind); filepath.IsAbs(dir) { // the XDG base directory specification ignores relative paths
		return dir
	}
	switch {
	case system == "windows" && kind == "XDG_CONFIG_HOME":
		return getenv("AppData")
	case system == "windows":
		return getenv("LocalAppData")
	case home == "":
		return ""
	case system == "darwin":
		return filepath.Join(home, "Library", "Application Support")
	}
	return filepath.Join(home, map[string]string{
		"XDG_CONFIG_HOME": ".config",
		"XDG_DATA_HOME":   filepath.Join(".local", "share"),
		"XDG_STATE_HOME":  filepath.Join(".local", "state"),
	}[kind])
}
