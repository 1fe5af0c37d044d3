//go:build linux

package fiomatrix

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"
)

// address returns a free port of a loopback address in fio's notation. fio opens the port a moment later.
func address(ip string) (string, error) {
	l, err := net.Listen("tcp", ip+":0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return fmt.Sprintf("%s,%d", ip, l.Addr().(*net.TCPAddr).Port), nil
}

// waitFor returns when a program listens at an address in fio's notation. It reads the kernel's table. A connection
// would be a client of fio's server, and an attempt to listen could take the port away.
func waitFor(server string) error {
	at, err := netip.ParseAddrPort(strings.Replace(server, ",", ":", 1))
	if err != nil {
		return err
	}
	ip := at.Addr().As4()
	const listening = "0A"
	row := fmt.Sprintf(" %08X:%04X 00000000:0000 %s ", binary.NativeEndian.Uint32(ip[:]), at.Port(), listening)
	for range 100 {
		table, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			return err
		}
		if strings.Contains(string(table), row) {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("fio --server=%s does not listen after 5 s", server)
}
