package evidence

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/fio2es/fio2es/internal/late"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// wrappings are lines of programs that store what others print, and the commands that take that out of them.
var wrappings = []struct {
	what   string
	line   func() *regexp.Regexp
	unwrap string
}{
	{"a container log of docker", late.Regexp(`^\{"log":"`), "jq -rj .log"},
	{"a journal in JSON", late.Regexp(`^\{.*"MESSAGE"\s*:`), "jq -r .MESSAGE"},
	{"a container log of Kubernetes", late.Regexp(`^\d{4}-\d\d-\d\dT\S+ std(?:out|err) [FP] `), "cut -d' ' -f4-"},
	{"lines of kubectl logs --prefix", late.Regexp(`^\[pod/[^\]]+\] `), `sed 's/^\[[^]]*\] //'`},
	{"lines of docker compose logs", late.Regexp(`^[\w.-]+ +\| `), `sed 's/^[^|]*| //'`},
	{
		"lines of a journal",
		late.Regexp(`^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) \S+ [^\s:\[]+(?:\[\d+\])?: `),
		`sed -E 's/^(\S+ +\S+ \S+|\S+) \S+ [^ :]+: //'`,
	},
	{"lines with times in front", late.Regexp(`^\[?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* `), "cut -d' ' -f2-"},
	{"lines with times in front", late.Regexp(`^\[?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* `), "cut -d' ' -f3-"},
}

// foreign says what a text is that has fio's output in a form that is not read, and how to take it out. It is empty for any
// other text, and for lines of which nothing shows that they are of fio, unless isNamed is true, because the user says it.
func foreign(name string, head []byte, isNamed bool) string {
	const advice = "fio's output in %s, which is not read as it is: take it out first: %s %s > fio.out"
	base := path.Base(name)
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		if !isNamed && !fiolog.IsReport(bytes.ReplaceAll(head, []byte{0}, nil)) {
			return ""
		}
		return fmt.Sprintf(advice, "UTF-16, as PowerShell's > writes it", "iconv -f UTF-16 -t UTF-8", base)
	}
	hasPart := func(part string) bool { return strings.Contains(string(head), part) }
	if fiolog.IsJSON(head) || !isNamed && !hasPart("fio version") && !hasPart(": (g=") && !hasPart(": (groupid=") && !hasPart(";fio-") {
		return ""
	}
	lines := strings.SplitN(strings.TrimLeft(string(head), "\r\n"), "\n", 3)
	for i, w := range wrappings {
		isOne := w.line().MatchString(lines[0]) && (len(lines) < 2 || lines[1] == "" || w.line().MatchString(lines[1]))
		if hasOnlyTime := i >= len(wrappings)-2; isOne && !(hasOnlyTime && fiolog.IsText(head)) { // which is read
			return fmt.Sprintf(advice, w.what, w.unwrap, base)
		}
	}
	return ""
}
