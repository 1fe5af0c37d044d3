// Command generate makes synthetic logs for measurements and for test scripts.
package main

import (
	"fmt"
	"os"

	"github.com/fio2es/fio2es/internal/fiotest"
)

func main() {
	if err := fiotest.Generate(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
