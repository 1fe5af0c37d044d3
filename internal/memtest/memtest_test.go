package memtest

import "testing"

func TestMeasure(t *testing.T) {
	var kept []byte
	used := Measure(t, func() {
		kept = make([]byte, 64<<20)
		for i := range kept {
			kept[i] = 1
		}
	})
	if used.Peak < 60<<20 || used.Peak > 100<<20 || len(kept) == 0 {
		t.Errorf("64 MiB were measured as %d bytes", used.Peak)
	}
}
