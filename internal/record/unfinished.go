package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Entry describes a run that is not stored yet. It is a file beside the folders of runs. While fio2es or fio itself
// runs, the file is locked.
type Entry struct {
	Folder  string            `json:"folder"`  // of the run
	Name    string            `json:"name"`    // of the run, see [NameOf]
	Host    string            `json:"host"`    // on which fio runs
	History string            `json:"history"` // in which it is to be stored, as messages call it
	Command []string          `json:"command"`
	Started time.Time         `json:"started"`
	Labels  map[string]string `json:"labels,omitempty"`
	Note    string            `json:"note,omitempty"`
	Wrapped bool              `json:"wrapped,omitempty"` // fio is started by another program, which does not keep the lock

	file *os.File
}

// Folders is the folder with the folders of runs, and their entries.
type Folders string

const entrySuffix = ".unfinished"

// ErrRunning is a run whose fio, or fio2es, still runs.
var ErrRunning = errors.New("it still runs")

// Begin creates a folder for a run, and its entry. The folder's name is the time at which the run began.
func (f Folders) Begin(e Entry) (*Entry, error) {
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return nil, err
	}
	const tries = 1000 // runs of one second
	name := e.Started.UTC().Format("20060102-150405")
	for i := range tries {
		e.Folder = filepath.Join(string(f), name)
		if i > 0 {
			e.Folder += fmt.Sprintf("-%d", i+1)
		}
		err := os.Mkdir(e.Folder, 0o755)
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
	return nil, fmt.Errorf("%s: %d runs began in this second: start the next one later", filepath.Join(string(f), name), tries)
}

func (e *Entry) write() (err error) {
	if e.file, err = lockFile(e.path(), os.O_RDWR|os.O_CREATE|os.O_EXCL); err != nil {
		return err
	}
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	_, err = e.file.Write(append(text, '\n'))
	return err
}

// Report is the file with all of fio's output.
func (e *Entry) Report() string { return filepath.Join(e.Folder, reportName(e.Name)) }

func (e *Entry) path() string { return e.Folder + entrySuffix }

// Unfinished are the names of the entries of runs that are not stored.
func (f Folders) Unfinished() (paths []string, err error) {
	files, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, file := range files {
		if strings.HasSuffix(file.Name(), entrySuffix) {
			paths = append(paths, filepath.Join(string(f), file.Name()))
		}
	}
	return paths, err
}

// wrappedQuiet is the time without a change of the files of a run after which its fio counts as ended, if fio does not
// keep the lock. It is longer than the time between two reports.
const wrappedQuiet = 30 * time.Second

// Claim opens the entry of a run that is not stored, and locks it until it is done. It fails with ErrRunning while fio
// or another fio2es works on it.
func Claim(path string) (*Entry, error) {
	file, err := lockFile(path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	e := &Entry{}
	if err := json.NewDecoder(file).Decode(e); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: not what fio2es wrote: %w; remove it, and store its folder with fio2es ingest %s", path, err,
			strings.TrimSuffix(path, entrySuffix))
	}
	e.file, e.Folder = file, strings.TrimSuffix(path, entrySuffix) // where it is now
	if info, err := os.Stat(e.Report()); e.Wrapped && err == nil && time.Since(info.ModTime()) < wrappedQuiet {
		file.Close()
		return nil, ErrRunning
	}
	return e, nil
}

// Release unlocks the entry of a run that is not stored yet.
func (e *Entry) Release() error { return e.file.Close() }

// Done removes the entry of a run that is stored. The folder stays.
func (e *Entry) Done() error { return errors.Join(os.Remove(e.path()), e.file.Close()) }

// Discard removes the entry and the folder of a run that has nothing to store.
func (e *Entry) Discard() error {
	err := os.RemoveAll(e.Folder)
	if e.file != nil {
		err = errors.Join(err, e.Done())
	}
	return err
}
