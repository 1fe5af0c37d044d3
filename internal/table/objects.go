package table

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// object writes a row as a JSON object on one line. Its keys have the order of the columns.
type object struct {
	keys []string // quoted, with colons
	line bytes.Buffer
	to   *json.Encoder // writes to line
}

func newObject(keys []string) *object {
	o := &object{}
	o.to = json.NewEncoder(&o.line)
	o.to.SetEscapeHTML(false) // otherwise < and > in rules would be escaped
	for _, key := range keys {
		o.keys = append(o.keys, strconv.Quote(key)+":")
	}
	return o
}

func (o *object) add(column int, v any) {
	separator := byte(',')
	if o.line.Len() == 0 {
		separator = '{'
	}
	o.line.WriteByte(separator)
	o.line.WriteString(o.keys[column])
	if err := o.to.Encode(v); err != nil {
		panic(err)
	}
	o.line.Truncate(o.line.Len() - 1) // remove the newline
}
