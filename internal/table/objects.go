package table

import (
	"bytes"
	"encoding/json"
	"io"
)

// objects writes a JSON object a line, with its keys in the order of the columns.
type objects struct {
	w    io.Writer
	keys []string // quoted, with their colons
	line bytes.Buffer
	to   *json.Encoder // into line
	next int           // column
}

func newObjects(w io.Writer, keys []string) *objects {
	o := &objects{w: w}
	o.to = json.NewEncoder(&o.line)
	o.to.SetEscapeHTML(false) // rules are full of < and >
	for _, key := range keys {
		o.encode(key)
		o.keys = append(o.keys, o.line.String()+":")
		o.line.Reset()
	}
	return o
}

// encode appends a text, a number, a boolean or a list of texts.
func (o *objects) encode(v any) {
	if err := o.to.Encode(v); err != nil {
		panic(err)
	}
	o.line.Truncate(o.line.Len() - 1) // without the line end
}

func (o *objects) begin() {
	o.line.Reset()
	o.line.WriteByte('{')
	o.next = 0
}

// add adds the value of the next column.
func (o *objects) add(v any, sparse bool) {
	key := o.keys[o.next]
	o.next++
	if v = known(v); sparse && isEmpty(v) {
		return
	}
	if o.line.Len() > 1 {
		o.line.WriteByte(',')
	}
	o.line.WriteString(key)
	o.encode(v)
}

func (o *objects) end() error {
	o.line.WriteString("}\n")
	_, err := o.w.Write(o.line.Bytes())
	return err
}
