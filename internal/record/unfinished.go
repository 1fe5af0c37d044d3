package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/secret"
)

// Entry describes a run that is not stored yet. It is a file beside the folder of the run. While fio2es or fio runs,
// the file is locked.
type Entry struct {
	Folder  string    `json:"folder"`  // folder of the run
	Name    string    `json:"name"`    // name of the run, see [NameOf]
	Host    string    `json:"host"`    // host on which fio runs
	History string    `json:"history"` // history in which to store it, as messages name it
	Command []string  `json:"command"` // without secrets
	Started time.Time `json:"started"`
	// time between the reports that fio is asked for with a signal; 0 if it is not
	Grid time.Duration `json:"grid,omitempty"`
	// the run that this host shares with others, and the attempt at it; empty if it is a run of its own
	Shared  string `json:"shared,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// there are secrets in its options, and so in fio's report: see [Entry.HideSecrets]
	Secrets bool `json:"secrets,omitempty"`
	// fio is started by another program, which does not keep the lock
	Wrapped bool              `json:"wrapped,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"` // set by the user
	Note    string            `json:"note,omitempty"`   // set by the user
	// labels of a sweep, which the run gets only if fio ends in order: by them the sweep knows what it lacks
	Sweep map[string]string `json:"sweep,omitempty"`
	// why it could not be stored after fio had ended; empty if fio2es has not tried
	Failed string `json:"failed,omitempty"`

	file *os.File
}

// Folders is the path of the folder with the folders of runs and their entries.
type Folders string

const entrySuffix = ".unfinished"

// ErrRunning means that fio or fio2es still runs.
var ErrRunning = errors.New("it still runs")

// Begin creates a folder for a run and its entry. The name of the folder is the time at which the run began.
func (f Folders) Begin(e Entry) (*Entry, error) {
	// The folder is beside a history, which only its owner can read.
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(string(f)); err != nil || !info.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("%s is no folder: fio's files would be written elsewhere; remove the link", f))
	}
	const tries = 1000 // for runs that begin in the same second
	name := e.Started.UTC().Format("20060102-150405")
	for i := range tries {
		e.Folder = filepath.Join(string(f), name)
		if i > 0 {
			e.Folder += fmt.Sprintf("-%d", i+1)
		}
		err := os.Mkdir(e.Folder, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := e.write(); err != nil {
			return nil, errors.Join(err, e.Discard())
		}
		return &e, nil
	}
	return nil, fmt.Errorf("%s: there are %d runs of this second", filepath.Join(string(f), name), tries)
}

func (e *Entry) write() (err error) {
	if e.file, err = lockFile(e.path(), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND); err != nil {
		return err
	}
	return e.append()
}

// append writes the entry after its earlier state, so that on a full disk the earlier one stays readable.
func (e *Entry) append() error {
	text, _ := json.MarshalIndent(e, "", "  ") // cannot fail: it has texts and a time of this clock
	_, err := e.file.Write(append(text, '\n'))
	return err
}

// HasOutput reports whether fio wrote any output.
func (e *Entry) HasOutput() bool {
	info, err := os.Stat(e.Report())
	return err == nil && info.Size() > 0
}

// IsCut reports whether fio was killed: it writes its last report after the logs of all jobs. It is meaningful only
// if the run has logs, or if fio did not end in order.
func (e *Entry) IsCut() bool {
	report, err := os.Stat(e.Report())
	logs, _ := filepath.Glob(filepath.Join(escape(e.Folder), "*"+logNames+"*"))
	return err != nil || len(logs) == 0 || slices.ContainsFunc(logs, func(name string) bool {
		log, err := os.Stat(name)
		return err == nil && log.ModTime().After(report.ModTime())
	})
}

// Report returns the path of the file with all of fio's output.
func (e *Entry) Report() string { return filepath.Join(e.Folder, reportName(e.Name, e.Grid)) }

func (e *Entry) path() string { return e.Folder + entrySuffix }

// Unfinished returns the paths of the entries of runs that are not stored. Those in a folder of another user are that user's to
// store: a service reads a history in which root has runs, too.
func (f Folders) Unfinished() (paths []string, err error) {
	files, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	for _, file := range files {
		if strings.HasSuffix(file.Name(), entrySuffix) {
			paths = append(paths, filepath.Join(string(f), file.Name()))
		}
	}
	return paths, err
}

// wrappedQuiet is how long the report of a run must be unchanged before its fio counts as ended. It is used if fio
// does not keep the lock, and no process has the folder of the run in its command line. It is longer than the time
// between two reports that fio2es run asks for; with a longer --status-interval a fio that runs may count as ended.
const wrappedQuiet = 30 * time.Second

// Claim opens the entry of a run that is not stored, and locks it until it is done. It fails with [ErrRunning] while
// fio or another fio2es works on the run.
func Claim(path string) (*Entry, error) {
	file, err := lockFile(path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	e, err := decode(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: not what fio2es wrote: %w; remove it, and store its folder with fio2es ingest %s", path, err,
			strings.TrimSuffix(path, entrySuffix))
	}
	began := e.Folder
	e.file, e.Folder = file, strings.TrimSuffix(path, entrySuffix) // the folder may have been moved
	if info, err := os.Stat(e.Report()); e.Wrapped && (err == nil && time.Since(info.ModTime()) < wrappedQuiet || hasProcess(began)) {
		file.Close()
		return nil, ErrRunning
	}
	return e, nil
}

// hasProcess reports whether the command line of another process names files of a folder, as that of a fio that
// writes there does. It is false on systems without /proc.
func hasProcess(folder string) bool {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(lines, func(line string) bool {
		text, err := os.ReadFile(line) // fails if the process has ended
		return err == nil && line != fmt.Sprintf("/proc/%d/cmdline", os.Getpid()) && bytes.Contains(text, []byte(folder+string(filepath.Separator)))
	})
}

// Running returns the entries of runs on which fio or a fio2es works. They are not claimed.
func (f Folders) Running() (list []*Entry, err error) {
	paths, err := f.Unfinished()
	for _, path := range paths {
		if e, claimed := Claim(path); claimed == nil {
			err = errors.Join(err, e.Release())
		} else if errors.Is(claimed, ErrRunning) {
			file, failed := os.Open(path)
			if failed != nil { // it has just been stored
				continue
			}
			if e, failed := decode(file); failed == nil {
				list = append(list, e)
			}
			file.Close()
		}
	}
	return list, err
}

// decode returns the last complete entry in a file.
func decode(file io.Reader) (*Entry, error) {
	in := json.NewDecoder(file)
	e := &Entry{}
	err := in.Decode(e)
	for err == nil {
		next := &Entry{}
		if in.Decode(next) != nil { // the end of the file, or an incomplete entry
			break
		}
		e = next
	}
	return e, err
}

// HideSecrets removes the secrets from fio's report and from the copies of job files, of a fio that has ended.
func (e *Entry) HideSecrets() (err error) {
	if !e.Secrets {
		return nil
	}
	copies, _ := filepath.Glob(filepath.Join(escape(e.Folder), "job-*.fio"))
	for _, name := range append(copies, e.Report()) {
		if one := hideSecrets(name); !errors.Is(one, fs.ErrNotExist) {
			err = errors.Join(err, one)
		}
	}
	return err
}

// hideSecrets replaces a file by one without secrets, with the same time. In a report of fio each option has a line of its own,
// as in a job file.
func hideSecrets(name string) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(name+".hidden", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	lines, to := bufio.NewReader(in), bufio.NewWriter(out)
	for err == nil {
		var line string
		line, err = lines.ReadString('\n')
		option, value, isOption := strings.Cut(line, "=")
		if isOption && !strings.Contains(option, `"`) && secret.IsName(strings.TrimSpace(option)) && strings.TrimSpace(value) != "" {
			line = option + "=" + secret.Hidden + "\n"
		}
		_, _ = to.WriteString(secret.Text(line)) // Flush has the error
	}
	if err == io.EOF {
		err = nil
	}
	if err = errors.Join(err, to.Flush(), out.Close()); err == nil {
		err = os.Chtimes(out.Name(), time.Time{}, info.ModTime())
	}
	if err == nil {
		err = os.Rename(out.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return nil
}

// Release unlocks the entry of a run that is still not stored.
func (e *Entry) Release() error { return e.file.Close() }

// Postpone records why a run could not be stored, and unlocks its entry.
func (e *Entry) Postpone(why error) error {
	e.Failed = why.Error()
	_ = e.append() // on failure, for example on a full disk, the next command does not know the reason
	return e.Release()
}

// Done removes the entry of a stored run. The folder stays.
func (e *Entry) Done() error { return errors.Join(os.Remove(e.path()), e.file.Close()) }

// Discard removes the entry and the folder of a run that has nothing to store. It fails with [ErrRunning], and
// removes nothing, if jobs of a killed fio still run, because these write their histogram logs when they end.
func (e *Entry) Discard() (err error) {
	if e.file == nil {
		return os.RemoveAll(e.Folder)
	}
	e.Failed = "its fio was killed, but some of its jobs continued"
	// closing does not release the lock if jobs have inherited it
	if err = errors.Join(e.append(), e.file.Close()); err != nil {
		return err
	}
	if e.file, err = lockFile(e.path(), os.O_RDWR|os.O_APPEND); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(e.Folder), e.Done())
}

// Stored returns the folder of a stored run by the folder's name. ok is false if there is no such folder, or if its
// run is not stored yet.
func (f Folders) Stored(name string) (folder string, ok bool) {
	if name == "." || name == ".." || filepath.Base(name) != name {
		return "", false
	}
	folder = filepath.Join(string(f), name)
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return "", false
	}
	_, err := os.Lstat(folder + entrySuffix)
	return folder, os.IsNotExist(err)
}

// Size returns the size of the files in a folder, in bytes.
func Size(folder string) (sum int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				sum += info.Size()
			}
		}
		return nil // unreadable files do not count
	})
	return sum
}
