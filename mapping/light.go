package mapping

import "encoding/base64"

// LightField has the packed [Run.Light] of a run's document in Elasticsearch. Lists from the documents themselves take
// six times as long, because the cluster reads all of each document.
const LightField = "light"

// WithLight adds the field to a run's document as [Run.AppendJSON] wrote it.
func WithLight(document, packed []byte) []byte {
	b := append(document[:len(document)-1:len(document)-1], `,"`+LightField+`":"`...)
	return append(base64.StdEncoding.AppendEncode(b, packed), '"', '}')
}
