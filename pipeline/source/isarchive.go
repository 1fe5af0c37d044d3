package source

import "io"

// IsArchive reports whether the file of that name is a tar or zip, compressed or not. It reads the beginning of the
// file. It returns false if that fails.
func IsArchive(name string) bool {
	f, err := openNow(name)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false // what is read of a pipe is gone
	}
	var r io.Reader = f
	for range maxLayers {
		buf := takeBuffer(r)
		head, _ := buf.Peek(sniffLen)
		k := detect(head)
		if !k.compressed() {
			return k.isArchive()
		}
		d, err := decode(k, buf)
		if err != nil {
			return false
		}
		defer d.Close()
		r = d
	}
	return false
}

// maxLayers is how many compressions IsArchive takes off.
const maxLayers = 4
