package evidence

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
