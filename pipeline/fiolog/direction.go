package fiolog

import "strings"

// Direction is the kind of a request. The values are the numbers that fio writes.
type Direction uint8

// The directions whose latencies fio measures.
const (
	Read  Direction = 0
	Write Direction = 1
	Trim  Direction = 2
)

// Directions is the number of directions, for arrays indexed by them.
const Directions = 3

// ParseMode parses a value of fio's option rw. It returns fio's mode, such as "randread", and the directions of the
// mode. It ignores what follows a colon, which is how offsets grow. If the value is wrong, the mode is empty and the
// directions are all possible ones. Without a value the mode is empty and the direction is fio's default, read.
func ParseMode(rw string) (mode string, directions []Direction) {
	mode, _, _ = strings.Cut(rw, ":")
	switch mode {
	case "", "read", "randread":
		return mode, []Direction{Read}
	case "write", "randwrite":
		return mode, []Direction{Write}
	case "trim", "randtrim":
		return mode, []Direction{Trim}
	case "readwrite", "rw": // two names of one mode
		return "rw", []Direction{Read, Write}
	case "randrw":
		return mode, []Direction{Read, Write}
	case "trimwrite", "randtrimwrite":
		return mode, []Direction{Write, Trim}
	}
	return "", []Direction{Read, Write, Trim}
}

// Mixes reports whether fio divides the requests of a mode into reads and writes by its option rwmixread.
func Mixes(mode string) bool { return mode == "rw" || mode == "randrw" }

var directionNames = [Directions]string{"read", "write", "trim"}

// String returns fio's name: "read", "write" or "trim".
func (d Direction) String() string {
	if d < Directions {
		return directionNames[d]
	}
	return "unknown"
}
