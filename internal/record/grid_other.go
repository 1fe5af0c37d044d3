//go:build !linux

package record

import (
	"os"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// CanSignal returns false: nothing shows here when a signal would kill fio.
func CanSignal(*fioargs.Command) bool { return false }

func askOnGrid(*os.Process, time.Duration) (stop func()) { return func() {} }
