package layout

import (
	"os"
	"testing"

	"github.com/fio2es/fio2es/internal/testcost"
)

func TestMain(m *testing.M) {
	testcost.Lower()
	os.Exit(m.Run())
}
