package record

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// jobFile returns the name of the n-th job file for the command. fio applies options of the command line only to the
// first job file. So the others are replaced by copies that begin with the added options.
func (p *Plan) jobFile(name string, n int, added []string, s Settings) (string, error) {
	if n == 0 && name != Stdin {
		return name, nil
	}
	text, err := s.ReadFile(name)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if n > 0 {
		fmt.Fprintf(&b, "[global]\n%s\n", strings.Join(added, "\n"))
	}
	own, err := fioargs.Movable(name, text)
	if err != nil {
		return "", err
	}
	b.WriteString(own)
	to := filepath.Join(s.Folder, fmt.Sprintf("job-%d.fio", n+1))
	p.Copies[to] = b.Bytes()
	return to, nil
}

// Stdin is the name of a job file that is read from stdin.
const Stdin = "-"

// Files returns a function that reads job files. It reads stdin only once.
func Files(stdin io.Reader) func(name string) ([]byte, error) {
	all := sync.OnceValues(func() ([]byte, error) { return io.ReadAll(stdin) })
	return func(name string) ([]byte, error) {
		if name == Stdin {
			return all()
		}
		return os.ReadFile(name)
	}
}
