package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// allowEscapes lets a console act on escapes, such as colours. Without it older consoles of Windows show them as text.
func allowEscapes(f *os.File) {
	console := windows.Handle(f.Fd())
	var size windows.ConsoleScreenBufferInfo
	var mode uint32
	if windows.GetConsoleScreenBufferInfo(console, &size) != nil || windows.GetConsoleMode(console, &mode) != nil {
		return // the keyboard, whose modes mean something else
	}
	_ = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // consoles that cannot are of before Windows 10
}
