package unit

import "strings"

// Nearest returns the name that a word was probably meant to be: one that begins with it, or the one with the fewest
// characters that differ, at most one of three. It is "" if no name is near.
func Nearest(word string, names []string) string {
	best, least := "", len(word)/3+1
	for _, name := range names {
		d := distance(strings.ToLower(word), strings.ToLower(name))
		if len(word) > 2 && strings.HasPrefix(strings.ToLower(name), strings.ToLower(word)) {
			d = 0
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns how many characters must be added, removed, replaced, or swapped with the next to make b of a.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
		for j := 1; j <= len(b); j++ {
			if i == 0 {
				rows[i][j] = j
				continue
			}
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(replaced, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
