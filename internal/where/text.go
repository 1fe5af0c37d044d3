package where

import (
	"time"

	"github.com/fio2es/fio2es/internal/unit"
)

// Text returns a value of [Field.Values] as text for people.
func (k Kind) Text(value any) string {
	switch v := value.(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case time.Time:
		return v.UTC().Format(time.DateTime)
	case float64:
		return k.numberText(v)
	case AtLeast:
		return unit.OrMore(k.numberText(float64(v)), true)
	}
	return value.(string)
}

func (k Kind) numberText(v float64) string {
	switch k {
	case Size:
		return unit.WholeBytes(int64(v))
	case KiB:
		return unit.WholeBytes(int64(v) * 1024)
	case Rate:
		return unit.Rate(v)
	case Bandwidth:
		return unit.Bandwidth(v)
	case Latency:
		return unit.Latency(v)
	case Duration:
		return unit.Short(time.Duration(v * float64(time.Second)))
	}
	return unit.Number(v)
}
