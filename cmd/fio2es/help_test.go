package main

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
)

// eachCommand calls do with each command that help lists.
func eachCommand(t *testing.T, do func(cmd *cobra.Command)) {
	t.Helper()
	root := rootCommand(newEnv(strings.NewReader(""), io.Discard, io.Discard))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	n := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		n++
		do(cmd)
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
	if n < 30 {
		t.Errorf("only %d commands", n)
	}
}

func helpOf(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	var text strings.Builder
	cmd.SetOut(&text)
	check(t, cmd.Help())
	return text.String()
}

// TestHelpFits: no line of help is wider than a terminal, and --help of a command is not higher.
func TestHelpFits(t *testing.T) {
	eachCommand(t, func(cmd *cobra.Command) {
		if lines := strings.Count(helpOf(t, cmd), "\n"); lines > 23 && cmd.GroupID != "" && cmd.GroupID != "The program" {
			t.Errorf("%s: %d lines", cmd.CommandPath(), lines)
		}
		for line := range strings.Lines(helpOf(t, cmd)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpColumns || strings.TrimRight(line, " \n")+"\n" != line && line != "\n" {
				t.Errorf("%s: %d characters: %q", cmd.CommandPath(), n, line)
			}
		}
	})
}

// TestHelpIsWhole: help begins with what a command does and with examples, and flags have names for their values.
func TestHelpIsWhole(t *testing.T) {
	own := map[string]bool{"help": true, "version": true, "config": true, "completion": true, "kibana": true, "fields": true, "settings": true}
	eachCommand(t, func(cmd *cobra.Command) {
		text := helpOf(t, cmd)
		isOwn := own[cmd.Name()] || cmd.HasParent() && cmd.Parent().Name() == "completion"
		if !isOwn && strings.Index(text, "\nExamples:\n") > 200 || !isOwn && !cmd.HasExample() {
			t.Errorf("%s: no examples, or far below:\n%s", cmd.CommandPath(), text)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if value, _ := pflag.UnquoteUsage(f); slices.Contains([]string{"string", "strings", "int", "float", "duration", "stringArray", "stringToString"}, value) {
				t.Errorf("%s: --%s has a value without a name: put a word of its help between backquotes", cmd.CommandPath(), f.Name)
			}
			if !strings.Contains(text, "--"+f.Name) {
				t.Errorf("%s: %s is not named", cmd.CommandPath(), f.Name)
			}
		})
	})
}

// TestSettingsHelp: the help on settings has each one that a file in the current folder may have.
func TestSettingsHelp(t *testing.T) {
	help := settingsText()
	for field := range reflect.TypeFor[config.Analysis]().Fields() {
		if name := field.Tag.Get("mapstructure"); !strings.Contains(help, "\n  "+name) && !strings.Contains(help, " "+name+",") && !strings.Contains(help, " "+name+":") {
			t.Errorf("%s is not explained", name)
		}
	}
}
