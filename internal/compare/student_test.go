package compare

import (
	"math"
	"testing"
)

// TestStudentT compares with published tables of three decimals (NIST/SEMATECH e-Handbook of Statistical Methods,
// 1.3.6.7.2). For one and two degrees of freedom it compares with the closed forms tan(pi*c/2) and c*sqrt(2/(1-c²)).
func TestStudentT(t *testing.T) {
	for _, c := range []struct {
		confidence float64
		freedom    int
		want       float64
	}{
		{0.80, 1, 3.078}, {0.90, 1, 6.314}, {0.95, 1, 12.706}, {0.99, 1, 63.657},
		{0.95, 2, 4.303}, {0.95, 3, 3.182}, {0.95, 4, 2.776}, {0.99, 5, 4.032},
		{0.90, 7, 1.895}, {0.95, 7, 2.365}, {0.98, 7, 2.998}, {0.99, 7, 3.499},
		{0.95, 10, 2.228}, {0.95, 15, 2.131}, {0.95, 29, 2.045}, {0.99, 29, 2.756},
		{0.95, 30, 2.042}, {0.99, 60, 2.660}, {0.95, 100, 1.984}, {0.80, 100, 1.290},
	} {
		if got := studentT(c.confidence, c.freedom); math.Abs(got-c.want) > 0.00051 {
			t.Errorf("%v with %d degrees of freedom: %v, want %v", c.confidence, c.freedom, got, c.want)
		}
	}
	for _, c := range []float64{0.5, 0.9, 0.95, 0.99} {
		if got, want := studentT(c, 1), math.Tan(math.Pi*c/2); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v with one degree of freedom: %v, want %v", c, got, want)
		}
		if got, want := studentT(c, 2), c*math.Sqrt(2/(1-c*c)); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v with two degrees of freedom: %v, want %v", c, got, want)
		}
	}
}

// TestTailOf: the share is that of the normal distribution beyond the t of tables times sqrt(k/(k-1)). For ten
// blocks this is beyond 2.262*1.054 = 2.384. For very many blocks the share is 2.5 %.
func TestTailOf(t *testing.T) {
	for blocks, want := range map[int]float64{5: 0.00096, 8: 0.00573, 10: 0.00856, 30: 0.01877, 10_000: 0.02499} {
		if got := tailOf(0.95, blocks); math.Abs(got-want) > 0.00002 {
			t.Errorf("%d blocks: %.5f, want %v", blocks, got, want)
		}
	}
}
