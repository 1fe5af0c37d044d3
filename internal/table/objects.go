package table

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// object makes a line with a JSON object of each row, with its keys in the order of the columns.
type object struct {
	keys []string // quoted, with their colons
	line bytes.Buffer
	to   *json.Encoder // into line
}

func newObject(keys []string) *object {
	o := &object{}
	o.to = json.NewEncoder(&o.line)
	o.to.SetEscapeHTML(false) // rules are full of < and >
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
	o.line.Truncate(o.line.Len() - 1) // without the line end
}
