package mapping

import (
	"encoding/json"
	"reflect"
)

// ReadRun and ReadInterval report whether a text is in the form that is decoded without encoding/json.

func ReadRun(text []byte) (r *Run, ok bool) {
	r = new(Run)
	return r, (&parser{text: text}).read(reflect.ValueOf(r).Elem())
}

func ReadInterval(text []byte) (d *Interval, ok bool) {
	d = new(Interval)
	return d, (&parser{text: text}).read(reflect.ValueOf(d).Elem())
}

// PlainRun and PlainInterval decode with encoding/json alone.

func PlainRun(text []byte) (*Run, error) {
	type plain Run
	p := new(plain)
	err := json.Unmarshal(text, p)
	return (*Run)(p), err
}

func PlainInterval(text []byte) (*Interval, error) {
	type plain Interval
	p := new(plain)
	err := json.Unmarshal(text, p)
	return (*Interval)(p), err
}
