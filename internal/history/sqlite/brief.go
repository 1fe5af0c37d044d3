package sqlite

import (
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

const (
	insertBrief = `INSERT INTO briefs (start, id, doc) VALUES (?, ?, ?)`
	deleteBrief = `DELETE FROM briefs WHERE (start, id) = (SELECT start, id FROM runs WHERE id = ?)`
)

// packBrief returns a run document without histograms and the list of files, with a checksum. It is not compressed,
// because decompression would take as long as decoding the fields that conditions need.
func packBrief(run *mapping.Run) []byte {
	return seal(run.AppendLight(make([]byte, sumBytes, 4096)))
}

// unpackBrief checks and decodes what packBrief returned.
func unpackBrief(blob []byte) (*mapping.Run, error) {
	text, err := unseal(blob)
	if err != nil {
		return nil, fmt.Errorf("read brief document: %w: %w", history.ErrDamaged, err)
	}
	run, err := history.DecodeRun(text)
	if err != nil {
		return nil, fmt.Errorf("read brief document: %w: %w", history.ErrDamaged, err)
	}
	return run, nil
}
