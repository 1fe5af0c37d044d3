package kibanatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The kinds of answers that are recorded for each search.
const (
	Full     = ""          // for a time with documents
	Empty    = ".empty"    // for a time without documents
	Pictured = ".pictured" // for the pictures in docs/images, if they show something else than Full
)

// Missing is the answer if the index does not exist.
var Missing = json.RawMessage(`{"timed_out":false,"hits":{"total":{"value":0,"relation":"eq"},"max_score":0,"hits":[]}}`)

// ReadAnswer reads an answer that [WriteAnswer] wrote, for a data set of a panel.
func ReadAnswer(dir, panel, data, kind string) (json.RawMessage, error) {
	return os.ReadFile(answerFile(dir, panel, data, kind))
}

// WriteAnswer writes an answer to a folder.
func WriteAnswer(dir, panel, data, kind string, answer json.RawMessage) error {
	return os.WriteFile(answerFile(dir, panel, data, kind), answer, 0o644)
}

func answerFile(dir, panel, data, kind string) string {
	return filepath.Join(dir, panel+"."+data+kind+".json")
}

// Normalize removes from an answer what differs between searches: the time that it took, ids, and when changes were found. It
// replaces the prefix of index names by "fio".
func Normalize(answer []byte, prefix string) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber() // keep the text of numbers
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	delete(v, "took")
	delete(v, "_shards")
	Walk(v, "", func(_ string, node map[string]any) { // all hits, including those in aggregations
		delete(node, "marked")
		if index, ok := node["_index"].(string); ok {
			delete(node, "_id")
			if rest, ok := strings.CutPrefix(index, prefix); ok {
				node["_index"] = "fio" + rest
			}
		}
	})
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return text.Bytes(), nil
}
