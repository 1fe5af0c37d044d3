package sqlite

import (
	"context"
	"database/sql"
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
func unpackBrief(blob []byte, decode history.Decoder) (*mapping.Run, error) {
	text, err := unseal(blob)
	if err != nil {
		return nil, fmt.Errorf("read brief document: %w: %w", history.ErrDamaged, err)
	}
	run, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("read brief document: %w: %w", history.ErrDamaged, err)
	}
	return run, nil
}

// storeOldBriefs adds the brief documents to a history of an older version. For a damaged run document it stores an
// empty one, which counts as damaged too.
func (s *writer) storeOldBriefs(ctx context.Context, tx *sql.Tx) error {
	const most = 500 // documents in memory
	for last := ""; ; {
		batch, err := s.oldBriefs(ctx, tx, last, most)
		if err != nil {
			return fmt.Errorf("read runs: %w", err)
		}
		for _, p := range batch {
			if _, err := tx.ExecContext(ctx, insertBrief, p.start, p.id, p.blob); err != nil {
				return fmt.Errorf("insert brief documents: %w", err)
			}
			last = p.id
		}
		if len(batch) < most {
			return nil
		}
	}
}

// oldBrief is a new row of the table briefs.
type oldBrief struct {
	id    string
	start int64
	blob  []byte
}

func (s *writer) oldBriefs(ctx context.Context, tx *sql.Tx, after string, most int) (batch []oldBrief, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, start, light FROM runs WHERE id > ? ORDER BY id LIMIT ?`, after, most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p oldBrief
		var light sql.RawBytes
		if err := rows.Scan(&p.id, &p.start, &light); err != nil {
			return nil, err
		}
		p.blob = []byte{}
		if run, err := s.codec.unpackRun(light); err == nil {
			p.blob = packBrief(run)
		}
		batch = append(batch, p)
	}
	return batch, rows.Err()
}
