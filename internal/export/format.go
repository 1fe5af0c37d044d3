package export

import (
	"io"

	"github.com/fio2es/fio2es/internal/table"
)

// Formats are the names of the formats.
var Formats = []string{"hdrlog", "openmetrics", table.CSV, table.JSON}

// New returns a writer in one of [Formats]. opt is used only for openmetrics.
func New(format string, w io.Writer, opt OpenMetricsOptions) Writer {
	switch format {
	case "hdrlog":
		return NewHDRLog(w)
	case "openmetrics":
		return NewOpenMetrics(w, opt)
	}
	return NewBins(w, format)
}
