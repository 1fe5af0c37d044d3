package group_test

import (
	"fmt"
	"testing"

	"github.com/fio2es/fio2es/internal/group"
)

func TestBy(t *testing.T) {
	isOdd := func(n int) bool { return n%2 == 1 }
	if got := fmt.Sprint(group.By([]int{3, 2, 1, 5, 4}, isOdd), group.By(nil, isOdd)); got != "[[3 1 5] [2 4]] []" {
		t.Error(got)
	}
}
