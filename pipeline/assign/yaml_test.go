package assign_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/pipeline/layout"
)

// yamlAttacks are small files that become large ones, or take long.
var yamlAttacks = []struct {
	name string
	text func(n int) string // of some n KiB
	want string             // in the error; "" if there need be none
}{
	{"aliases of a scalar", func(n int) string {
		return "a: &a " + strings.Repeat("x", n*512) + "\nb: [" + strings.Repeat("*a,", n*170) + "]\n"
	}, "too large"},
	{"aliases of aliases", func(n int) string {
		var b strings.Builder
		b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x]\n")
		for i := 1; b.Len() < n<<10; i++ {
			fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 8), ","))
		}
		return b.String()
	}, "too large"},
	{"aliases of long keys", func(n int) string {
		return "a: &a {" + strings.Repeat("k", 1000) + ": {? " + strings.Repeat("l", n*256) + " : 1}}\nb: [" + strings.Repeat("*a,", n*100) + "]\n"
	}, "too large"},
	{"long nested keys", func(n int) string {
		var b strings.Builder
		for i := range 16 {
			fmt.Fprintf(&b, "%s? %s\n%s:\n", strings.Repeat(" ", i), strings.Repeat("k", n*50), strings.Repeat(" ", i))
		}
		for i := range n * 6 {
			fmt.Fprintf(&b, "%s%d: 1\n", strings.Repeat(" ", 16), i)
		}
		return b.String()
	}, "the first 4194304 bytes"},
	{"many keys", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n<<10; i++ {
			fmt.Fprintf(&b, "%d:\n", i)
		}
		return b.String()
	}, "too large"},
	{"many mappings of many keys", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n<<10; i++ {
			if i%9000 == 0 {
				fmt.Fprintf(&b, "m%d:\n", i)
			}
			fmt.Fprintf(&b, " %d:\n", i)
		}
		return b.String()
	}, "too large"},
	{"many workloads", func(n int) string {
		var keys, loads strings.Builder
		for i := range n * 8 {
			fmt.Fprintf(&keys, "k%d: 1\n", i)
			fmt.Fprintf(&loads, " w%d: {a: 1}\n", i)
		}
		return keys.String() + "workloads:\n" + loads.String()
	}, ""},
	{"merges", func(n int) string {
		var b strings.Builder
		b.WriteString("a: &a {")
		for i := range n * 10 {
			fmt.Fprintf(&b, "k%d: 1,", i)
		}
		return b.String() + "}\nb:\n <<: [" + strings.Repeat("*a,", n*10) + "]\n"
	}, ""},
	{"directives", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n<<10; i++ {
			fmt.Fprintf(&b, "%%TAG !%d! x\n", i)
		}
		return b.String() + "---\na: b\n"
	}, ""},
	{"deep lists", func(n int) string { return "a: " + strings.Repeat("[", min(n*10, 9990)) + strings.Repeat("b,", n*300) }, "did not find"},
	{"one key many times", func(n int) string { return strings.Repeat("a: b\n", n*200) }, "too large"},
	{"one list as a key many times", func(n int) string { return strings.Repeat("? [b]\n: c\n", n*8) }, "there already"},
	{"comments", func(n int) string { return "a:\n" + strings.Repeat(" - b #c\n", n*110) }, ""},
	{"many small values", func(n int) string { return "a: [" + strings.Repeat("b,", n*500) + "]" }, ""},
}

func TestYAMLLimits(t *testing.T) {
	const most, longest = 100 << 20, 10 * time.Second
	for _, kib := range []int{16, 126} {
		for _, tt := range yamlAttacks {
			t.Run(fmt.Sprintf("%s of %d KiB", tt.name, kib), func(t *testing.T) {
				text := tt.text(kib)
				r := tree{id + layout.ConfigName: text}.with(id + "output.0_bw.1.log.h").read(t).Runs[0]
				r.LookAtWorkloads()
				var err error
				used := memtest.Measure(t, func() { _, err = r.Configure(context.Background()) })
				t.Logf("%d bytes: %d MB, %v", len(text), used.Peak>>20, used.Time)
				if used.Peak > most || used.Time > longest {
					t.Errorf("it took %d bytes and %v", used.Peak, used.Time)
				}
				if kib > 16 && (err == nil && tt.want != "" || err != nil && !strings.Contains(err.Error(), tt.want)) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
			})
		}
	}
}
