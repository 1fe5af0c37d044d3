package sqlite

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"
)

// sumBytes is the length of the checksum before a content, its XXH64.
const sumBytes = 8

// seal writes the checksum of a content into the first bytes of blob, which are free for it.
func seal(blob []byte) []byte {
	binary.LittleEndian.PutUint64(blob, xxhash.Sum64(blob[sumBytes:]))
	return blob
}

var errSum = errors.New("its checksum differs")

// unseal returns the content after the checksum.
func unseal(blob []byte) ([]byte, error) {
	if len(blob) < sumBytes || binary.LittleEndian.Uint64(blob) != xxhash.Sum64(blob[sumBytes:]) {
		return nil, errSum
	}
	return blob[sumBytes:], nil
}
