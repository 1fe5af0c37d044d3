//go:build !linux

package doctor

func blockDevice(string) string { return "" }
