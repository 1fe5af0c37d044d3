package pipeline_test

import (
	"testing"

	"github.com/fio2es/fio2es/internal/testcost"
)

func TestMain(m *testing.M) {
	testcost.Lower()
	m.Run()
}
