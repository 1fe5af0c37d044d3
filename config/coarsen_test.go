package config

import (
	"strings"
	"testing"
)

func TestParseCoarseness(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "0": 0, "3": 3, " 6 ": 6, "1%": 0, "5%": 2, "5 %": 2, "6.25%": 3, "50%": 6, "100%": 6, "2 digits": 2, "2digits": 2, "1 digit": 6,
	} {
		if got, err := parseCoarseness(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"7": "from 0 to 6", "-1": "from 0 to 6", "0.05": "such as 5%", "many": "such as 5%", "0 digits": "2 digits", "two digits": "2 digits", "NaN%": "such as 5%",
		"0.5%": "known to 0.78125 %", "3 digits": "known to 0.78125 %", "0%": "known to 0.78125 %", "-5%": "known to 0.78125 %",
	} {
		if got, err := parseCoarseness(text); err == nil || got != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d, %v, want %s", text, got, err, want)
		}
	}
	if text := Coarsened(2); !strings.Contains(text, "464 bins for fio's 1856") || !strings.Contains(text, "3.125 %") || !strings.Contains(text, "6.25 %") {
		t.Error(text)
	}
}
