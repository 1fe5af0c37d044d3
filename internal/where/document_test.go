package where

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/golden"
)

// TestFieldsDocument: docs/fields.md has the fields of conditions and of documents, with an example of each.
func TestFieldsDocument(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| field | also | type | unit in documents | field in documents | what it is | example |\n|---|---|---|---|---|---|---|\n")
	code := func(text string) string {
		if text == "" {
			return ""
		}
		return "`" + text + "`"
	}
	for _, f := range Fields() {
		unit := f.Kind.Unit()
		switch {
		case f.Name == "interval":
			unit = "milliseconds"
		case f.Path == "":
			unit = ""
		}
		var also []string
		for _, alias := range f.Aliases {
			also = append(also, code(alias))
		}
		condition := f.Name + f.exampleOp() + f.Example
		if f.Kind == expr.Flag {
			condition = f.Name
		}
		condition = strings.Replace(condition, ".*", ".NAME", 1)
		if _, err := Parse(condition, now); err != nil {
			t.Error(condition, err)
		}
		if strings.HasPrefix(f.Name, "read.") || strings.HasPrefix(f.Name, "write.") || strings.HasPrefix(f.Name, "trim.") {
			continue // a sentence below the table says that they are as those of all requests
		}
		if slices.Contains([]string{"p75", "p90", "p95", "p99_99"}, f.Name) {
			continue // and that these are as p99
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | `%s` |\n",
			f.Name, strings.Join(also, ", "), f.Kind, unit, code(f.Path), f.Help, condition)
	}
	golden.Section(t, filepath.Join("..", "..", "docs", "fields.md"), "<!-- fields -->", "<!-- /fields -->", b.String())
}

// exampleOp returns the operator of a field's example.
func (f *Field) exampleOp() string {
	switch {
	case f.Kind == expr.Latency || f.Kind == expr.Rate || f.Kind == expr.Bandwidth:
		return " > "
	case f.Kind == expr.Time:
		return " >= "
	case slices.Contains([]string{"id", "execution", "warning", "name", "archive", "path", "note", "state", "lacks"}, f.Name):
		return " ~ "
	}
	return "="
}
