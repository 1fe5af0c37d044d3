package assign_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestForeign: output of fio in lines of other programs is named for what it is, with the command that takes it out, in a
// folder, too. Lines in which nothing is of fio are of no interest there.
func TestForeign(t *testing.T) {
	inUTF16 := func(text string) string {
		b := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(text)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	}
	inLines := func(begin, end string) func(string) string {
		return func(text string) string {
			var b strings.Builder
			for line := range strings.Lines(text) {
				if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(begin, `{"`) {
					line = strings.ReplaceAll(line, `"`, `\"`)
				}
				b.WriteString(begin + line + end + "\n")
			}
			return b.String()
		}
	}
	outputs := []string{"{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : []\n}\n", fioText("t", 10)}
	for _, c := range []struct {
		name, want string
		as         func(string) string
	}{
		{"pod.log", "a container log of docker, which is not read as it is: take it out first: jq -rj .log pod.log > fio.out", inLines(`{"log":"`, `\n","stream":"stdout"}`)},
		{"pod.log", "jq -r .MESSAGE pod.log", inLines(`{"_PID":"7","MESSAGE":"`, `"}`)},
		{"pod.log", "a container log of Kubernetes, which is not read as it is: take it out first: cut -d' ' -f4- pod.log > fio.out", inLines("2026-11-28T18:00:00.1Z stdout F ", "")},
		{"pod.txt", `kubectl logs --prefix, which is not read as it is: take it out first: sed 's/^\[[^]]*\] //' pod.txt`, inLines("[pod/fio-abc/fio] ", "")},
		{"pod", "docker compose", inLines("fio-1  | ", "")},
		{"pod.log", "lines of a journal", inLines("Nov 28 18:00:00 node1 fio[123]: ", "")},
		{"pod.log", "lines of a journal", inLines("2026-11-28T18:00:00+0000 node1 fio[123]: ", "")},
		{"out.json", "UTF-16, as PowerShell's > writes it, which is not read as it is: take it out first: iconv -f UTF-16 -t UTF-8 out.json", inUTF16},
	} {
		for _, text := range append(outputs, "hello\nworld\n") {
			root := tree{c.name: c.as(text)}.write(t, "arch")
			for _, arg := range []string{root, filepath.Join(root, c.name)} {
				a := read(context.Background(), scan(t, arg))
				isSaid := len(a.Left) == 1 && a.Left[0].Notable && strings.Contains(a.Left[0].Reason, c.want)
				if isSaid != (text != "hello\nworld\n" || arg != root) || len(a.Runs) > 0 {
					t.Errorf("%s in %s: %v, %q, %q", c.want, arg, shorts(a), reasons(a), text)
				}
			}
		}
	}
}

// TestUnfinishedCopies: what programs that copy have not finished is no log.
func TestUnfinishedCopies(t *testing.T) {
	files := tree{
		"x_clat_hist.1.log": histRow(1856), ".x_clat_hist.2.log.Ab04Cd": histRow(1856), ".out.json.q8XzY1": fioReport(job{"j"}),
		".rsync-partial/x_clat_hist.3.log": histRow(1856), "x_clat_hist.4.log.filepart": histRow(1856),
	}
	a := read(context.Background(), scan(t, files.write(t, "arch")))
	if len(a.Runs) != 1 || len(a.Runs[0].Logs) != 1 || a.Runs[0].Logs[0].Job != 1 || len(a.Runs[0].Reports) > 0 {
		t.Errorf("%v, %q", shorts(a), reasons(a))
	}
}
