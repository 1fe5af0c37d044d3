package history_test

import (
	"net/http"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
)

const testPrefix = "lab"

// openElastic is an empty history on a server of its own.
func openElastic(t *testing.T) (*history.Elastic, *fake) {
	t.Helper()
	f := newFake(t)
	if _, err := f.call(t.Context(), http.MethodPut, "/"+testPrefix+"-runs", ""); err != nil {
		t.Fatal(err)
	}
	return history.NewElastic(f, testPrefix, &writer{f.direct, testPrefix}), f
}

func TestElastic(t *testing.T) {
	for name, pageBytes := range map[string]int{"one page": 4 << 20, "many pages": 10_000, "a document each": 1} {
		t.Run(name, func(t *testing.T) {
			historytest.Run(t, func(t *testing.T) history.Store {
				e, f := openElastic(t)
				t.Cleanup(func() {
					f.mu.Lock()
					defer f.mu.Unlock()
					if f.open != 0 {
						t.Errorf("%d points in time are open", f.open)
					}
				})
				return e.Hurry(pageBytes)
			})
		})
	}
}
