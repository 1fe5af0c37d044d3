package window

// Bytes adds up the bytes of windows.
type Bytes struct {
	sum       float64
	isUnknown bool // of a window with requests
}

// Add adds the bytes of a window.
func (b *Bytes) Add(w *Window) {
	b.sum += w.Bandwidth * float64(w.Length().Milliseconds()) / 1000
	b.isUnknown = b.isUnknown || w.Bandwidth == 0 && w.Completed > 0
}

// Sum returns the number of bytes, or 0 if it is not known.
func (b *Bytes) Sum() float64 {
	if b.isUnknown {
		return 0
	}
	return b.sum
}
