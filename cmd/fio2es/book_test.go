package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/golden"
)

// timing matches what differs between calls.
var timing = regexp.MustCompile(` in [0-9.]+s`)

type terminal80 struct{ io.Writer }

func (terminal80) Columns() int { return 80 }

// user types commands into a terminal of 80 columns.
type user struct {
	*testing.T
	tmp string // folder that the user sees as /tmp
}

func newUser(t *testing.T) *user {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, "")
	}
	return &user{T: t, tmp: t.TempDir()}
}

// types runs the commands in a page's console blocks, which begin with $, and returns the page with their output.
func (u *user) types(page string) string {
	return fence.ReplaceAllStringFunc(page, func(block string) string {
		m := fence.FindStringSubmatch(block)
		if m[1] != "console" || !strings.HasPrefix(m[2], "$ ") {
			return block // for example a request for Kibana's console
		}
		var made strings.Builder
		for line := range strings.Lines(m[2]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				made.WriteString(line + u.run(strings.TrimSpace(command)))
			}
		}
		return "```console\n" + made.String() + "```\n"
	})
}

// run runs a command in this process and returns its output.
func (u *user) run(command string) string {
	u.Helper()
	words := slices.Concat(shellCommands(command)...)
	if name, value, ok := strings.Cut(strings.Join(words, " "), "="); ok && words[0] == "export" {
		u.Setenv(strings.TrimPrefix(name, "export "), strings.Replace(value, "/tmp", u.tmp, 1))
		return ""
	}
	var args []string
	for _, arg := range programArgs(words) {
		arg = strings.Replace(arg, "/tmp", u.tmp, 1)
		matches, err := filepath.Glob(arg)
		if err != nil || len(matches) == 0 {
			matches = []string{arg}
		}
		args = append(args, matches...)
	}
	var out bytes.Buffer
	e := newEnv(strings.NewReader(""), &out, &out)
	e.stdout = terminal80{e.stdout}
	if code := e.run(u.Context(), args); code != 0 && code != exitLeftOut && code != exitMet {
		u.Fatalf("%s: exit code %d\n%s", command, code, &out)
	}
	return at80(strings.ReplaceAll(timing.ReplaceAllString(out.String(), " in 0.07s"), u.tmp, "/tmp"))
}

// at80 breaks messages of more than 80 characters at spaces.
func at80(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		for len([]rune(line)) > 81 {
			at := strings.LastIndex(string([]rune(line)[:81]), " ")
			if at <= 0 {
				break
			}
			out.WriteString(strings.TrimRight(line[:at], " ") + "\n")
			line = line[at+1:]
		}
		out.WriteString(line)
	}
	return out.String()
}

// TestBook runs the commands in console blocks of pages at the root of the module. If a page needs it, the example
// archive is in the history. It compares the output with the pages; -update
// writes them.
func TestBook(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for _, c := range []struct{ page, before string }{
		{"README.md", ""},
		{"docs/quickstart.md", "fio2es ingest examples/cbt-archive/results/00000000"},
		{"docs/cbt.md", ""},
		{"docs/history.md", "fio2es ingest examples/cbt-archive"},
		{"docs/methods.md", ""},
	} {
		t.Run(filepath.Base(c.page), func(t *testing.T) {
			u := newUser(t)
			if c.before != "" {
				u.run(c.before)
			}
			page := readText(t, c.page)
			golden.File(t, c.page, u.types(page))
		})
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return string(text)
}

// shellCommands returns the simple commands in a line of a shell, without redirections and comments.
func shellCommands(line string) (commands [][]string) {
	var words []string
	var word strings.Builder
	started, redirected := false, false
	endWord := func() {
		if started && !redirected {
			words = append(words, word.String())
		}
		redirected = redirected && !started
		started = false
		word.Reset()
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands, words = append(commands, words), nil
		}
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'' || c == '"':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				end = len(line) - i - 1
			}
			word.WriteString(line[i+1 : i+1+end])
			started, i = true, i+1+end
		case c == '\\' && i+1 < len(line):
			word.WriteByte(line[i+1])
			started, i = true, i+1
		case c == ' ' || c == '\t':
			endWord()
		case c == '#' && !started:
			i = len(line)
		case c == '>' || c == '<':
			if word.String() == "2" {
				started = false
			}
			endWord()
			redirected = true
		case c == '&' && redirected && !started: // for 2>&1
		case strings.IndexByte("|&;()`\n", c) >= 0:
			endCommand()
		default:
			word.WriteByte(c)
			started = true
		}
	}
	endCommand()
	return commands
}

// programArgs returns the arguments of fio2es in the words of a command, or nil if the command does not run fio2es.
func programArgs(words []string) []string {
	for i, w := range words {
		if w == "build" || w == "install" || w == "test" || w == "scp" { // as in docker build -t fio2es, or go install …/fio2es
			return nil
		}
		if w == "fio2es" || strings.HasSuffix(w, "/fio2es") {
			return append([]string{}, words[i+1:]...)
		}
	}
	return nil
}

func allCommands() *cobra.Command {
	root := rootCommand(newEnv(strings.NewReader(""), io.Discard, io.Discard))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// checkLine checks that a command, its flags and their values exist.
func checkLine(args []string) error {
	root := allCommands()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if cmd == root && len(cmd.Flags().Args()) > 0 || cmd.Args == nil {
		return nil
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// checkMention checks that the command in a code span exists and has the flags.
func checkMention(root *cobra.Command, span string) error {
	text, isProgram := strings.CutPrefix(span, "fio2es ")
	words := strings.Fields(text)
	if len(words) == 0 || !isProgram && (len(words) < 2 || !isCommand(root, words[0]) || !strings.HasPrefix(words[1], "-")) {
		return nil
	}
	cmd, rest, err := root.Find(words[:1])
	if err != nil || len(rest) > 0 && !strings.HasPrefix(words[0], "-") {
		return errors.Join(err, errors.New("no command "+words[0]))
	}
	if len(words) > 1 && isCommand(cmd, words[1]) {
		cmd, _, _ = cmd.Find(words[1:2])
	}
	for _, w := range words {
		w, _, _ = strings.Cut(strings.Trim(w, "[],"), "=")
		if w == "--" {
			break // later words belong to fio
		}
		if name, ok := strings.CutPrefix(w, "--"); ok && name != "help" && name != "version" && cmd.Flag(name) == nil {
			return errors.New("no flag --" + name)
		}
	}
	return nil
}

func isCommand(parent *cobra.Command, name string) bool {
	return slices.ContainsFunc(parent.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
}

// pages returns the pages that people read, by their paths from the root.
func pages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	check(t, err)
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		if _, err := os.Stat(filepath.Join("..", "..", name)); err == nil {
			docs = append(docs, filepath.Join("..", "..", name))
		}
	}
	return docs
}

var (
	anyFence = regexp.MustCompile("(?ms)^(?:> )?```\\w*\n.*?^(?:> )?```\n|^    [^\\s*-][^\n]*\n")
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	schedule = regexp.MustCompile(`^([\d*]+ +){4}[\d*]+  +`)
)

// TestCommands: each command of fio2es on a page exists and has the flags. In blocks of code, the values of flags
// and the arguments are valid, too. README.md has all commands.
func TestCommands(t *testing.T) {
	t.Parallel()
	root, found := allCommands(), 0
	for _, page := range pages(t) {
		text := strings.ReplaceAll(readText(t, page), "\\\n", "")
		for _, block := range anyFence.FindAllString(text, -1) {
			for line := range strings.Lines(block) {
				line = strings.TrimPrefix(strings.TrimSpace(schedule.ReplaceAllString(line, "")), "$ ")
				for _, words := range shellCommands(line) {
					if args := programArgs(words); args != nil {
						found++
						if err := checkLine(args); err != nil {
							t.Errorf("%s: %s: %v", page, line, err)
						}
					}
				}
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(anyFence.ReplaceAllString(text, ""), -1) {
			found++
			if err := checkMention(root, strings.ReplaceAll(m[1], `\|`, "|")); err != nil {
				t.Errorf("%s: `%s`: %v", page, m[1], err)
			}
		}
	}
	if found < 100 {
		t.Errorf("found %d commands", found)
	}
	readme := readText(t, filepath.Join("..", "..", "README.md"))
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" && !strings.Contains(readme, "`fio2es "+c.Name()) {
			t.Errorf("README.md does not have %s", c.Name())
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)

// TestLinks: the targets of links exist, including headings, and docs/README.md has all pages of the book.
func TestLinks(t *testing.T) {
	t.Parallel()
	inBook := map[string]bool{"README.md": true}
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(anyFence.ReplaceAllString(readText(t, page), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			if page == filepath.Join("..", "..", "docs", "README.md") {
				inBook[m[1]] = true
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if m[2] != "" && !slices.Contains(anchors(readText(t, target)), m[2]) {
				t.Errorf("%s: %s has no heading #%s", page, target, m[2])
			}
		}
	}
	for _, page := range pages(t) {
		if name := filepath.Base(page); filepath.Base(filepath.Dir(page)) == "docs" && !inBook[name] {
			t.Errorf("docs/README.md does not have %s", name)
		}
	}
}

// anchors returns the anchors that GitHub gives to the headings of a page.
func anchors(page string) (list []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		text := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(text, " ", "-"))
	}
	return list
}

// TestCommandsDocument: docs/settings.md has all commands.
func TestCommandsDocument(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| command | |\n|---|---|\n")
	for _, c := range allCommands().Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			fmt.Fprintf(&table, "| `%s` | %s |\n", strings.ReplaceAll(strings.TrimSuffix(c.UseLine(), " [flags]"), "|", `\|`), c.Short)
		}
	}
	golden.Section(t, filepath.Join("..", "..", "docs", "settings.md"), "<!-- commands -->", "<!-- /commands -->", table.String())
}
