package es

import (
	"encoding/json"
	"fmt"
)

// ReadObject reads an object member by member, so that it need not fit into memory. field reads
// the value of each member, or skips it with [Skip].
func ReadObject(d *json.Decoder, field func(name string) error) error {
	if err := delim(d, '{'); err != nil {
		return err
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return syntax(err)
		}
		if err := field(fmt.Sprint(token)); err != nil {
			return err
		}
	}
	return delim(d, '}')
}

// ReadArray reads an array. element reads each value.
func ReadArray(d *json.Decoder, element func() error) error {
	if err := delim(d, '['); err != nil {
		return err
	}
	for d.More() {
		if err := element(); err != nil {
			return err
		}
	}
	return delim(d, ']')
}

// Skip skips a value.
func Skip(d *json.Decoder) error {
	var skip json.RawMessage
	return syntax(d.Decode(&skip))
}
