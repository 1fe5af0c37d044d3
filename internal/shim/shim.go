// Package shim has the script fio2es-fio, which CBT and other programs run instead of fio. The script adds the
// options that fio2es needs. If that is not safe, it runs fio with unchanged options.
package shim

import _ "embed"

// Script is the text of fio2es-fio, for any POSIX shell.
//
//go:embed fio2es-fio
var Script string
