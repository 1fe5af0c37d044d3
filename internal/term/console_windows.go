package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// allowEscapes makes a console act on escapes, such as colours. Otherwise older consoles of Windows show them as
// text.
func allowEscapes(f *os.File) {
	console := windows.Handle(f.Fd())
	var size windows.ConsoleScreenBufferInfo
	var mode uint32
	if windows.GetConsoleScreenBufferInfo(console, &size) != nil || windows.GetConsoleMode(console, &mode) != nil {
		return // f is the keyboard, whose modes have another meaning
	}
	// fails only before Windows 10
	_ = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
}
