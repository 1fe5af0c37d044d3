package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/where"
)

// TestFieldsDocument: docs/fields.md has the fields of conditions and of documents.
func TestFieldsDocument(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| field | also | type | unit in documents | field in documents and KQL | what it is | --where |\n|---|---|---|---|---|---|---|\n")
	for _, f := range where.Fields {
		path, example := "", f.Example
		if f.Path != "" {
			path = "`" + f.Path + "`"
		}
		unit := f.Kind.Unit()
		switch {
		case f.Name == "interval":
			unit = "milliseconds"
		case path == "":
			unit = ""
		}
		condition := f.Name + "=" + example
		switch f.Kind {
		case where.Latency, where.Rate, where.Bandwidth:
			condition = f.Name + " > " + example
		case where.Time:
			condition = f.Name + " >= " + example
		case where.Flag:
			condition = f.Name
		}
		if f.Name == "warning" || f.Name == "name" || f.Name == "archive" || f.Name == "path" || f.Name == "note" || f.Name == "state" {
			condition = f.Name + " ~ " + example
		}
		condition = strings.Replace(condition, ".*", ".NAME", 1)
		also := ""
		if len(f.Aliases) > 0 {
			also = "`" + strings.Join(f.Aliases, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | `%s` |\n", f.Name, also, f.Kind, unit, path, f.Help, condition)
	}
	golden.Section(t, filepath.Join("..", "..", "docs", "fields.md"), "<!-- fields -->", "<!-- /fields -->", b.String())
}
