package bulk

import (
	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/mapping"
)

// RunDocument returns the JSON of a run document, with the additional field [mapping.LightField]: a packed copy of
// what lists need.
func RunDocument(run *mapping.Run) []byte {
	return mapping.WithLight(run.AppendJSON(nil), newLightPacker().pack(run))
}

// lightPacker packs the part of run documents that lists need.
type lightPacker struct{ *zstd.Encoder }

func newLightPacker() lightPacker {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // fails only for wrong options
	}
	return lightPacker{e}
}

func (p lightPacker) pack(run *mapping.Run) []byte { return p.EncodeAll(run.AppendLight(nil), nil) }
