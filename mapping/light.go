package mapping

import (
	"encoding/base64"
	"reflect"
)

// LightField is the field of a run document in Elasticsearch with the packed [Run.Light]. Without it lists take six
// times as long, because the cluster reads all of each document.
const LightField = "light"

// WithLight adds LightField to a run document that [Run.AppendJSON] wrote.
func WithLight(document, packed []byte) []byte {
	b := append(document[:len(document)-1:len(document)-1], `,"`+LightField+`":"`...)
	return append(base64.StdEncoding.AppendEncode(b, packed), '"', '}')
}

// AppendLight appends [Run.Light] as JSON, without the members that only Elasticsearch needs.
func (r *Run) AppendLight(dst []byte) []byte {
	return appendObject(dst, reflect.ValueOf(r.Light()).Elem())
}
