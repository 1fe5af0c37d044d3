package compat

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestPairwise: sums that NumPy 2.4 printed for sum(1/arange(1, n+1)) (repr). Added one after another, three of them differ.
func TestPairwise(t *testing.T) {
	for n, want := range map[int]string{5: "2.283333333333333", 100: "5.187377517639621", 127: "5.425334592589172", 1000: "7.485470860550345", 1856: "8.103663950607903"} {
		list := make([]float64, n)
		for i := range list {
			list[i] = 1 / float64(i+1)
		}
		if got := python(pairwise(list)); got != want {
			t.Errorf("%d numbers: %s, want %s", n, got, want)
		}
	}
}

func TestInterpolate(t *testing.T) {
	xs, ys := []float64{1, 2, 2, 2, 4}, []float64{10, 20, 30, 40, 60}
	for x, want := range map[float64]float64{0: 10, 1: 10, 1.5: 15, 2: 40, 3: 50, 4: 60, 5: 60} {
		if got := interpolate(x, xs, ys); got != want {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
}

// TestPython: numbers as repr of Python 3.11 prints them.
func TestPython(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", 0.1: "0.1", 5e-5: "5e-05", 0.0001: "0.0001", 123456.789: "123456.789", 1e15: "1000000000000000.0", 1e16: "1e+16", 1.5e22: "1.5e+22",
	} {
		if got := python(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

// TestArguments: --percentiles takes the words up to the next option, as in the tool.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ tool, args, files, err string }{
		{FioHistoLogPctiles, "--percentiles 50 99 -- a b", "a b", ""},
		{FioHistoLogPctiles, "--percentiles 50 99 --time-quantum 2 a", "a", ""},
		{FioHistoLogPctiles, "--percentiles=50 a", "a", ""},
		{FioHistoLogPctiles, "--percentiles 50 a", "", "invalid"},
		{FioHistoLogPctiles, "-- --percentiles", "--percentiles", ""},
		{FioHistoLogPctiles, "--time-quantum 1", "", "want the files of logs"},
		{FiologparserHist, "-i500 -d 2 a --noweight b", "a b", ""},
		{FiologparserHist, "--interval soon a", "", "--interval"},
	} {
		call, err := Parse(c.tool, strings.Fields(c.args))
		switch {
		case c.err != "":
			if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.args, err, c.err)
			}
		case err != nil || !slices.Equal(call.Files, strings.Fields(c.files)):
			t.Errorf("%s: %v, %v", c.args, call, err)
		}
	}
}
