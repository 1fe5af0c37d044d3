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

// jobFile is the name of the n-th job file in the command. fio applies options of the command line to the first job
// file only, so the others are copies with the added options before all others.
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

// Stdin is the name of the job file that comes from stdin.
const Stdin = "-"

// Files reads job files. It reads stdin once.
func Files(stdin io.Reader) func(name string) ([]byte, error) {
	all := sync.OnceValues(func() ([]byte, error) { return io.ReadAll(stdin) })
	return func(name string) ([]byte, error) {
		if name == Stdin {
			return all()
		}
		return os.ReadFile(name)
	}
}
