package elastic

import "io"

// Detachable is the body of a bulk request.
type Detachable struct{ d *detachable }

// ErrDetached is a body whose request is over.
var ErrDetached = errDetached

func NewDetachable(body []byte) Detachable { return Detachable{newDetachable(body)} }

func (d Detachable) WriteTo(w io.Writer, n int64) (int64, error) { return d.d.writeTo(w, n) }
func (d Detachable) Read(p []byte) (int, error)                  { return d.d.Read(p) }
func (d Detachable) Rewind() (io.ReadCloser, error)              { return d.d.rewind() }
func (d Detachable) Detach()                                     { d.d.detach() }
