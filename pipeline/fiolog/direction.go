package fiolog

// Direction is what a request did. The values are the numbers that fio writes.
type Direction uint8

// The directions that fio measures latencies of.
const (
	Read  Direction = 0
	Write Direction = 1
	Trim  Direction = 2
)

// Directions is how many directions there are, for arrays indexed by them.
const Directions = 3

var directionNames = [Directions]string{"read", "write", "trim"}

// String is fio's own word: "read", "write" or "trim".
func (d Direction) String() string {
	if d < Directions {
		return directionNames[d]
	}
	return "unknown"
}
