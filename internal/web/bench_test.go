package web

import (
	"fmt"
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

// BenchmarkList reads lists from a history of 10,000 runs: the first page, a search for a text, one that needs all
// runs, and the last page.
func BenchmarkList(b *testing.B) {
	store := historyOf(b)
	for i := range 10_000 {
		run := runOf(i, fmt.Sprintf("run%05d", i), 50+float64(i%977))
		config := map[string]any{}
		for key := range 80 {
			config[fmt.Sprintf("cluster.setting_%d", key)] = fmt.Sprint("value ", key)
		}
		run.Config = mapping.ConfigOf(config)
		must(b, store.Finish(b.Context(), run))
	}
	p := serve(store)
	for _, path := range []string{"/", "/?text=run00042", "/?sort=p99", "/?page=100"} {
		b.Run(path[1:], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if w := p.get(b, path); w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
