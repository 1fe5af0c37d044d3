module github.com/fio2es/fio2es/ci/dist

go 1.26.0
