package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/where"
)

// fieldsTopic is the help on conditions: fio2es help fields.
func fieldsTopic(*env) *cobra.Command {
	var b strings.Builder
	b.WriteString(`Conditions of --where, such as

  bs=4k and iodepth in (16, 32) and write.p99 > 5ms and start >= 2026-10
  label.release=reef and not (mode ~ rand or complete=no)

Comparisons are =, !=, <, <=, >, >= and in (A, B); ~ and !~ look for a text, in any
case. "and" goes before "or"; parentheses and "not" as usual. A name alone means
that the run has it. Texts and names with spaces need quotes: 'label.my rack'='New York'. A
run that lacks a field differs from every value: it meets !=, and no other comparison.

Sizes are 4k or 1MiB (k is 1024), latencies 300us or 5ms, durations 90s, 10m or 2h,
rates 500 or 20k (k is 1000), times 2026, 2026-10, 2026-10-01, 2026-10-01T09:12:00Z,
today, yesterday, or 7d, 2w, 3mo, 1y (ago).

Fields:
`)
	for _, f := range where.Fields {
		if d, _, ok := strings.Cut(f.Name, "."); ok && (d == "read" || d == "write" || d == "trim") {
			continue
		}
		name := strings.Join(append([]string{f.Name}, f.Aliases...), ", ")
		b.WriteString(entry(fmt.Sprintf("  %-18s %-9s ", name, f.Kind), f.Help))
	}
	b.WriteString(`
Fields of all requests also exist for each direction: write.p99, read.iops.
docs/fields.md has them all, with their names in documents and in Kibana.`)
	return &cobra.Command{Use: "fields", Short: "Conditions of --where, and the fields that they can name", Long: b.String()}
}
