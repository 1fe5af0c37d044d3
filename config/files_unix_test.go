//go:build unix

package config

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"
)

// TestOnlyRegularFiles: nothing waits for a FIFO or reads a device, for settings and secrets.
func TestOnlyRegularFiles(t *testing.T) {
	for name, place := range map[string]func(string) error{
		"fifo":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"large":  func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("#\n"), mostSettings), 0o600) },
	} {
		want := map[bool]string{true: ": more than", false: ": not a regular file"}[name == "large"]
		f := newFolders(t, "", "")
		if err := place(f.here); err != nil {
			t.Fatal(err)
		}
		_, err := Load("", pflag.NewFlagSet("test", pflag.ContinueOnError))
		_, secretErr := (&Elasticsearch{Credentials: Credentials{PasswordFile: f.here}}).Client()
		for _, err := range []error{err, secretErr} {
			if err == nil || !strings.Contains(err.Error(), f.here+want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
