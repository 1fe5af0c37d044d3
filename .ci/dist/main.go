// Command dist makes the parts of a release that must be the same, byte for byte, on every machine: archives, the
// bill of materials, and the licences of dependencies. It uses only the standard library.
//
//	dist pack OUT.tar.gz DIR          a folder as an archive (or OUT.zip), with its name in front
//	dist gzip FILE...                 compresses each file in place
//	dist licenses PROGRAM             the licences of all modules of a program
//	dist sbom PROGRAM NAME VERSION    its bill of materials, as SPDX 2.3
//	dist links DIR                    fails if a page links to a file that the folder lacks
//
// SOURCE_DATE_EPOCH is the time of all files, in seconds since 1970.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := dist(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func dist(args []string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	at := time.Unix(seconds, 0).UTC()
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch {
	case command == "pack" && len(args) == 3:
		return pack(args[1], args[2], at)
	case command == "gzip" && len(args) > 1:
		for _, name := range args[1:] {
			if err := compress(name); err != nil {
				return err
			}
		}
		return nil
	case command == "links" && len(args) == 2:
		return links(args[1])
	case command == "licenses" && len(args) == 2:
		return licenses(os.Stdout, args[1])
	case command == "sbom" && len(args) == 4:
		return sbom(os.Stdout, args[1], args[2], args[3], at)
	}
	return fmt.Errorf("unknown command %q; see go doc", args)
}
