package layout

import (
	"path"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/pipeline/evidence"
)

// Archive returns the name of CBT's archive that has a file, which is the folder that has results, and the path and place of the file's
// run below that folder. So it has the same name whether the user named the archive, a folder of archives, or a folder inside of it,
// and packed as unpacked. Where CBT's folders are not all there, it returns false: the argument is the archive, as in other layouts.
func (s *Tree) Archive(f *evidence.File, at Place, run string) (name, below string, in Place, ok bool) {
	if at.Program != OfCBT {
		return "", "", at, false
	}
	above := strings.Split(s.RootOf(f), "/")
	all := append(above[:len(above):len(above)], strings.Split(run, "/")...)
	if run == "." {
		all = all[:len(above)]
	}
	id := len(above) - 1
	if at.Config != "." {
		id += len(strings.Split(at.Config, "/"))
	}
	results := id - 2
	if results < 1 || !iterationDir().MatchString(all[id-1]) || all[results] != resultsDir || all[results-1] == "" {
		return "", "", at, false
	}
	n, _ := strconv.Atoi(all[id-1]) // of eight digits
	at.Config, at.Known.Iteration = path.Join(all[results:id+1]...), &n
	return all[results-1], path.Join(all[results:]...), at, true
}
