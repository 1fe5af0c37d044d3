// Package where parses conditions on runs, such as
//
//	bs=4k and iodepth in (16, 32) and write.p99 > 5ms and not label.release=reef and start >= 2026-10
//
// and decides which runs meet them. [Fields] lists what conditions can name.
//
//	condition = and { "or" and }
//	and       = not { "and" not }
//	not       = "not" not | "(" condition ")" | test
//	test      = field                              the run has it; a flag is set
//	          | field ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value
//	          | field ( "~" | "!~" ) value         contains the text, in any case
//	          | field "in" "(" value { "," value } ")"
//
// A name or a value is a word, or a text in quotes: 'label.my rack'=7. Its form depends on the field: 4k and 1MiB are sizes,
// 300us and 5ms latencies, 10m and 2h durations, 20k a rate, 2026-10, 2026-10-01T09:12:00Z,
// yesterday and 7d (ago) times. A day or a month as a time is all of it.
//
// A field that a run lacks is different from every value, so != is met, and so is "not".
//
// A latency in fio's last bin is only a lower bound. A comparison that only an upper bound could decide is undecided:
// p99 < 30s, if p99 is 17.0s or more. So is its opposite, and neither selects the run.
package where
