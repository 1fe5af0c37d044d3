package bulk

import (
	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/mapping"
)

// RunDocument returns a run's document. What lists need of it is also in a field of its own.
func RunDocument(run *mapping.Run) []byte {
	return mapping.WithLight(run.AppendJSON(nil), newLightPacker().pack(run))
}

// lightPacker packs the part of runs' documents that lists need.
type lightPacker struct{ *zstd.Encoder }

func newLightPacker() lightPacker {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // only options can be wrong
	}
	return lightPacker{e}
}

func (p lightPacker) pack(run *mapping.Run) []byte { return p.EncodeAll(run.AppendLight(nil), nil) }
