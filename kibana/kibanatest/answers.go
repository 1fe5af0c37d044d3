package kibanatest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The kinds of answers that are kept of each search.
const (
	Full     = ""          // of a time with documents
	Empty    = ".empty"    // of a time without
	Pictured = ".pictured" // of what a picture in docs/images shows, where that is not the same as Full
)

// Missing is the answer where there is no such index.
var Missing = json.RawMessage(`{"timed_out":false,"hits":{"total":{"value":0,"relation":"eq"},"max_score":0,"hits":[]}}`)

// packFrom is the size from which answers are compressed.
const packFrom = 100 << 10

// ReadAnswer reads the answer to a data set of a panel that [WriteAnswer] wrote.
func ReadAnswer(dir, panel, data, kind string) (json.RawMessage, error) {
	name := answerFile(dir, panel, data, kind)
	text, err := os.ReadFile(name)
	if !errors.Is(err, os.ErrNotExist) {
		return text, err
	}
	f, err := os.Open(name + ".gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("read %s.gz: %w", name, err)
	}
	if text, err = io.ReadAll(unpacked); err != nil {
		return nil, fmt.Errorf("read %s.gz: %w", name, err)
	}
	return text, nil
}

// WriteAnswer keeps an answer in a folder, compressed if it is long.
func WriteAnswer(dir, panel, data, kind string, answer json.RawMessage) error {
	name := answerFile(dir, panel, data, kind)
	for _, old := range []string{name, name + ".gz"} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if len(answer) <= packFrom {
		return os.WriteFile(name, answer, 0o644)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(answer); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name+".gz", packed.Bytes(), 0o644)
}

func answerFile(dir, panel, data, kind string) string {
	return filepath.Join(dir, panel+"."+data+kind+".json")
}

// Normalize takes out of an answer what differs from one time to the next: how long it
// took, ids, and the prefix of index names, for which "fio" is put.
func Normalize(answer []byte, prefix string) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber() // so that they stay as they are
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	delete(v, "took")
	delete(v, "_shards")
	normalizeHits(v, prefix)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return text.Bytes(), nil
}

// normalizeHits does it for all hits, those of aggregations included.
func normalizeHits(v any, prefix string) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			normalizeHits(inner, prefix)
		}
	case map[string]any:
		if index, ok := v["_index"].(string); ok {
			delete(v, "_id")
			if rest, ok := strings.CutPrefix(index, prefix); ok {
				v["_index"] = "fio" + rest
			}
		}
		for _, inner := range v {
			normalizeHits(inner, prefix)
		}
	}
}
