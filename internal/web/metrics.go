package web

import (
	"bytes"
	"net/http"

	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/workload"
)

// metrics answers with numbers of the latest complete run of each workload, for Prometheus.
func (s *site) metrics(w http.ResponseWriter, r *http.Request) {
	runs, err := s.all(r.Context(), history.RunFilter{Brief: true})
	if err != nil {
		s.Log.Error("cannot answer", "page", r.URL.RequestURI(), "err", err)
		http.Error(w, "cannot read the history", http.StatusInternalServerError)
		return
	}
	var b bytes.Buffer
	_ = export.Gauges(&b, workload.Group(runs)) // cannot fail: b is a buffer
	w.Header().Set("Content-Type", export.GaugesType)
	_, _ = b.WriteTo(w) // an error means a closed connection, which is logged
}
