package term

import "testing"

// TestWidth: wide characters take two columns, and marks none, also where a text is cut.
func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "12.3µs": 6, "試験室": 6, "ｘ": 2, "e\u0301a": 2, "😀": 2, "…": 1} {
		if got := Width(text); got != want {
			t.Errorf("%q: %d columns, want %d", text, got, want)
		}
	}
	for width, want := range map[int]string{6: "試験室", 5: "試…室", 4: "試…", 3: "…", 2: "…"} {
		if got := Shorten("試験室", width); got != want || Width(got) > width {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
	if begin, end := Begin("e\u0301試a", 2), End("a試e\u0301", 2); begin != "e\u0301" || end != "e\u0301" {
		t.Errorf("%q, %q", begin, end)
	}
}
