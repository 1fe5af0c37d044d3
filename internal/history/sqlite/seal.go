package sqlite

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"
)

// sumBytes is the length of the checksum before the content, an XXH64.
const sumBytes = 8

// seal writes the checksum of blob[sumBytes:] into the first bytes of blob, and returns blob.
func seal(blob []byte) []byte {
	binary.LittleEndian.PutUint64(blob, xxhash.Sum64(blob[sumBytes:]))
	return blob
}

var errSum = errors.New("its checksum differs")

// unseal checks the checksum and returns the content after it.
func unseal(blob []byte) ([]byte, error) {
	if len(blob) < sumBytes || binary.LittleEndian.Uint64(blob) != xxhash.Sum64(blob[sumBytes:]) {
		return nil, errSum
	}
	return blob[sumBytes:], nil
}
