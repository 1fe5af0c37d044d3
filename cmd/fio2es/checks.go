package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
)

// formatJUnit is the format of a test report, which commands that check something write instead of their table.
const formatJUnit = "junit"

// Formats of these commands, and their help.
var checkFormats = append(slices.Clone(table.Formats), formatJUnit)

const checkUsage = tableUsage + "; junit: a test report"

type checks struct {
	format string
	junit.Suite
}

// table returns where the command's table is written, and its format. For a test report the table is discarded.
func (c *checks) table(w io.Writer) (io.Writer, string) {
	if c.format == formatJUnit {
		return io.Discard, table.Text
	}
	return w, c.format
}

// write writes the test report. Below a table in Markdown it lists the checks that did not pass. In other formats
// these are only on stderr.
func (c *checks) write(w io.Writer) error {
	if c.format == formatJUnit {
		return junit.Write(w, c.Suite)
	}
	if c.format != table.Markdown || len(c.Cases) == 0 {
		return nil
	}
	var notes []string
	count := [...]int{junit.Passed: 0, junit.Failed: 0, junit.Errored: 0, junit.Skipped: 0}
	for _, one := range c.Cases {
		count[one.Result]++
		if one.Result != junit.Passed && !slices.Contains(notes, one.Text) {
			notes = append(notes, one.Text)
		}
	}
	below := table.New[junit.Case](w, table.Markdown, nil)
	if err := below.End(fmt.Sprintf("%s: %d passed, %d failed, %d not checked, %d undecided", unit.Plural(len(c.Cases), "check"),
		count[junit.Passed], count[junit.Failed], count[junit.Errored], count[junit.Skipped])); err != nil {
		return err
	}
	return below.End(notes...)
}
