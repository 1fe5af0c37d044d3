package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// module is the prefix of all import paths of this module.
const module = "github.com/fio2es/fio2es"

// common may be imported by any package, as the standard library may: its own rule lets it import nothing.
const common = "internal/late"

// pkg is what the rules need to know about a package.
type pkg struct {
	folder  string
	imports []string // as written in its files
	comment bool
}

// violations returns what is wrong with the packages, with the reason for each rule.
func violations(all []pkg, rules map[string]rule) []string {
	var found []string
	wrong := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, p := range all {
		r, ok := rules[p.folder]
		if !ok {
			wrong("%s has no rule: say in rules_test.go who may import it, and what it may, and why", p.folder)
			continue
		}
		for _, path := range p.imports {
			folder, isOwn := strings.CutPrefix(path, module+"/")
			switch {
			case !isOwn:
				checkForeign(p.folder, path, r, wrong)
			case strings.HasPrefix(folder, "cmd/"):
				wrong("%s imports %s: no package imports commands", p.folder, folder)
			case folder == common:
			case !r.all && !slices.Contains(r.imports, folder):
				wrong("%s imports %s: %s", p.folder, folder, r.why)
			default:
				if users, ok := testsOnly[folder]; ok && !slices.Contains(users, p.folder) {
					wrong("%s imports %s, which is for tests", p.folder, folder)
				}
			}
		}
		if !p.comment {
			wrong("%s has no package comment: who uses it, what it is not, which units", p.folder)
		}
	}
	return found
}

// checkForeign checks imports from outside the module.
func checkForeign(folder, path string, r rule, wrong func(string, ...any)) {
	const soonStandard = "github.com/go-json-experiment/json" // encoding/json/v2 and encoding/json/jsontext of Go 1.27
	if first, _, _ := strings.Cut(path, "/"); r.std && strings.Contains(first, ".") && !strings.HasPrefix(path, soonStandard) {
		wrong("%s imports %s, not of the standard library: %s", folder, path, r.why)
	}
	for _, o := range only {
		if (path == o.path || strings.HasPrefix(path, o.path+"/")) && !slices.Contains(o.folders, folder) {
			wrong("%s imports %s, as only %v may: %s", folder, path, o.folders, o.why)
		}
	}
	if slices.Contains(pure, folder) && slices.Contains(impure, path) {
		wrong("%s imports %s: it computes; its callers decide what is opened, printed and sent", folder, path)
	}
}

// contradictions returns rules that cannot be right: imports from the same level or a higher one, which could form a
// cycle, and imports of packages without a rule.
func contradictions(rules map[string]rule) []string {
	var found []string
	for _, folder := range slices.Sorted(maps.Keys(rules)) {
		r := rules[folder]
		if r.why == "" {
			found = append(found, folder+" has a rule without a reason")
		}
		imports := r.imports
		if r.all {
			imports = slices.DeleteFunc(slices.Sorted(maps.Keys(rules)), func(other string) bool { return other == folder })
		}
		for _, to := range imports {
			lower, ok := rules[to]
			switch {
			case !ok:
				found = append(found, fmt.Sprintf("%s may import %s, which has no rule", folder, to))
			case lower.level >= r.level:
				found = append(found, fmt.Sprintf("%s (level %d) may import %s (level %d), which is not below it", folder, r.level, to, lower.level))
			case r.std && !lower.std:
				found = append(found, fmt.Sprintf("%s is to cost no more than the standard library, but may import %s", folder, to))
			}
		}
	}
	return found
}
