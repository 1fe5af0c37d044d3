// Package where parses conditions on runs, such as
//
//	bs=4k and iodepth in (16, 32) and write.p99 > 5ms and not label.release=reef and start >= 2026-10
//
// and decides which runs meet them. [Fields] lists the names in conditions.
//
//	condition = and { "or" and }
//	and       = not { "and" not }
//	not       = "not" not | "(" condition ")" | test
//	test      = field                              the run has it; a flag is set
//	          | field ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value
//	          | field ( "~" | "!~" ) value         contains the text, in any case
//	          | field "in" "(" value { "," value } ")"
//
// A name or a value is a word, or a text in quotes: 'label.my rack'=7. The form of a value depends on the field:
// sizes (4k, 1MiB), latencies (300us, 5ms), durations (10m, 2h), rates (20k), or times (2026-10,
// 2026-10-01T09:12:00Z, yesterday, 7d for seven days ago). A time such as a day or a month means all of that day or
// month.
//
// If a run lacks a field, every comparison with it is false, except != and !~: these are true.
//
// A latency in fio's last bin is only a lower bound. A comparison that needs an upper bound is undecided: p99 < 30s,
// if p99 is 17.0s or more. Then its opposite is undecided too, and neither selects the run.
package where
