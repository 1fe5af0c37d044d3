package evidence

import "github.com/fio2es/fio2es/pipeline/fiolog"

// Look is what the beginning of a file shows.
type Look struct {
	Content fiolog.Content
	HasJSON bool // fio's output is in JSON
	isEmpty bool
	Start   string // its first 40 bytes

	// Foreign says in which form it has fio's output that is not read, and how to take it out of that; else empty.
	Foreign string
}

// IsOutput reports whether a text begins like fio's output, also in a form that is not read.
func IsOutput(head []byte) bool { return fiolog.IsReport(head) || foreign("", head, false) != "" }

// lookAt looks at the first bytes of a file.
func lookAt(name string, head []byte, isNamed bool) Look {
	const start = 40
	return Look{
		Content: fiolog.ContentOf(head), HasJSON: fiolog.IsJSON(head), Start: string(head[:min(len(head), start)]),
		Foreign: foreign(name, head, isNamed),
	}
}
