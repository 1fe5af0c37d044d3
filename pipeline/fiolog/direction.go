package fiolog

import "strings"

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

// ParseMode returns fio's mode, such as "randread", of a value of its option rw, and the directions of the mode. What is
// after a colon is how offsets grow. The mode is empty if the value is none, and the directions are those that may be.
// Without a value they are those of fio's default, read.
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

// String is fio's own word: "read", "write" or "trim".
func (d Direction) String() string {
	if d < Directions {
		return directionNames[d]
	}
	return "unknown"
}
