package source_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/fio2es/fio2es/pipeline/source"
)

// Take the logs out of an archive, wherever they are in it.
func Example() {
	set, err := source.Scan(context.Background(), []string{"testdata/a.tar.bz2"}, source.Options{
		Want: func(path string) bool { return strings.HasSuffix(path, ".log") },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	for _, problem := range set.Problems {
		fmt.Println("skipped:", problem)
	}
	for _, file := range set.Files {
		r, err := file.Open()
		if err != nil {
			log.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r)
		if err != nil {
			log.Fatal(err)
		}
		if err := r.Close(); err != nil {
			log.Fatal(err)
		}
		fmt.Println(file.Archive, file.Path, n)
	}
	// Output:
	// a sub/y.log 400
	// a x.log 400
}
