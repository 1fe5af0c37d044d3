package bulk

import (
	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/mapping"
)

// RunDocument is a run's document, with what lists need of it in a field of its own.
func RunDocument(run *mapping.Run) []byte {
	return mapping.WithLight(run.AppendJSON(nil), newLightPacker().pack(run))
}

// lightPacker packs what lists need of runs' documents.
type lightPacker struct{ *zstd.Encoder }

func newLightPacker() lightPacker {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // only options can be wrong
	}
	return lightPacker{e}
}

func (p lightPacker) pack(run *mapping.Run) []byte { return p.EncodeAll(run.AppendLight(nil), nil) }
