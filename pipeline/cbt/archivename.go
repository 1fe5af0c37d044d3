package cbt

import (
	"path"
	"strconv"
	"strings"
)

// nameArchive gives a run of CBT the name of its archive, which is the folder that has results, and the path below that folder.
// So it has the same name whether the user named the archive, a folder of archives, or a folder inside of it, and packed as
// unpacked. Where CBT's folders are not all there, the argument is the archive, as in other layouts.
func (s *sorter) nameArchive(r *Run) {
	files := r.Files()
	if r.at.layout != ofCBT || len(files) == 0 {
		return
	}
	above := strings.Split(s.rootOf(files[0]), "/")
	all := append(above[:len(above):len(above)], strings.Split(r.Path, "/")...)
	if r.Path == "." {
		all = all[:len(above)]
	}
	id := len(above) - 1
	if r.at.config != "." {
		id += len(strings.Split(r.at.config, "/"))
	}
	results := id - 2
	if results < 1 || !iterationDir.MatchString(all[id-1]) || all[results] != resultsDir || all[results-1] == "" {
		return
	}
	n, _ := strconv.Atoi(all[id-1]) // of eight digits
	r.Archive, r.Path = all[results-1], path.Join(all[results:]...)
	r.at.config, r.at.known.Iteration = path.Join(all[results:id+1]...), &n
}
