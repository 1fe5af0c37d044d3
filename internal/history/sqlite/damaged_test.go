package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/internal/history/historytest"
)

func TestDamagedRunInSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path)
	defer closing(t, s)
	historytest.FinishABC(t, s)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE runs SET doc = x'00' WHERE id = ?`, historytest.ID("b")); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE summaries SET doc = x'00' WHERE run = ?`, historytest.ID("b")); err != nil {
		t.Fatal(err)
	}
	historytest.DamagedAmong(t, s, 2)
}
