// Package source finds where bytes come from: it turns paths, folders, archives
// and standard input into one flat, sorted list of files that can each be opened
// as often as needed.
//
// It is the first stage of the pipeline and knows nothing of what the bytes mean.
// Scan looks once at everything. Set is what it found and owns the resources
// behind it. File opens one content, decompressed.
//
// The content decides about the format, never the name: gzip, zstd, xz, bzip2, tar
// (ustar, pax, GNU and v7) and zip, in any nesting. Names only save work: a file that
// Options.Want turns down is looked into only when its suffix promises an archive
// or a compressed file.
//
// A file whose name says nothing can be found by its content (Options.Look), near files
// that are wanted, and beside the arguments (Options.Beside).
//
// # The same paths, packed or not
//
// A folder a/, an archive a.tar.zst of "a/..." and an archive a.zip of "..." give the
// same pairs of File.Archive ("a") and File.Path. An archive found inside, sub/b.tar.gz,
// contributes its members below sub/b/ with or without a leading "b/" in their names. A
// compressed single file x.log.gz has the path x.log.
//
// # Random access, and the spool
//
// What lies on disk stays there: plain files are opened when they are read, members of
// uncompressed tars and of zips are read in place through one open file per archive.
// What can only be read forwards (a compressed tar, standard input) is read once, and the
// wanted members are kept in one temporary file. So are files compressed with zstd, xz or
// bzip2, when they are opened first: their decoders take up to 128 MiB each, and thousands of
// files are read side by side.
// gzip takes 64 KiB and is decoded with each reading.
//
// # Distrust
//
// Input is not trusted. Names that would lead out of the archive, links and
// devices are refused (only an argument itself may be a link). A Budget bounds what small files may become. What is refused
// or damaged becomes a Problem
// and the scan continues; bytes that came out before the damage are kept, and their
// File says so in Err.
package source
