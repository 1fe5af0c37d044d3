package evidence

import (
	"io"

	"github.com/fio2es/fio2es/pipeline/source"
)

// Digest reads the file, unless its content was hashed before.
func (f *File) Digest() Digest {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renew(); f.digest == nil {
		f.digest = f.hash((*text).readAll)
	}
	return *f.digest
}

// Beginning reads how the file begins, unless its content was hashed before.
func (f *File) Beginning() Beginning {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renew(); f.digest != nil {
		return f.digest.Beginning
	}
	return f.hash((*text).readBeginning).Beginning
}

// hash returns the digest of what read reads of the file, or of all if the scan has its sum.
func (f *File) hash(read func(*text)) *Digest {
	in, err := f.Open()
	if err != nil {
		return &Digest{}
	}
	defer in.Close()
	t := newText(in)
	if size, sum, ok := f.Sum(); ok {
		t.readBeginning()
		return &Digest{size, hexadecimal(sum), t.Beginning}
	}
	read(t)
	return t.digest()
}

// OpenAll opens the content for a caller that reads all of it. Then [File.Digest] does not read it again.
func (f *File) OpenAll() (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.renew()
	in, err := f.Open()
	if _, _, hasSum := f.Sum(); err != nil || hasSum || f.digest != nil {
		return in, err
	}
	return &hashed{newText(in), in, f, f.seen}, nil
}

// hashed hashes the content of a file while it is read, and keeps the digest with the file at the end.
type hashed struct {
	*text
	io.Closer
	file *File
	seen source.State // before it was read
}

// Read implements [io.Reader].
func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.text.Read(p)
	if err == io.EOF {
		h.file.mu.Lock()
		defer h.file.mu.Unlock()
		if h.file.seen == h.seen {
			h.file.digest = h.text.digest()
		}
	}
	return n, err
}
