package evidence

// Digest identifies the content of a file as far as it can be read. Errors are reported when the file is parsed.
type Digest struct {
	Size int64
	Hash string // its XXH64, which is as fast as memory; it does not protect against forgery, and need not
	Beginning
}

// Beginning identifies how a file begins.
type Beginning struct {
	Digits int    // other than 0 that it begins with, up to [mapping.BeginDigits]
	Begin  string // [mapping.SourceFile].Begin of a log
}

// mostBegin is how many bytes count as the beginning of a file.
const mostBegin = 256 << 10

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
