package where

import (
	"reflect"
	"strings"

	"github.com/fio2es/fio2es/mapping"
)

// fieldOf returns the path in documents of a field of a run, and how to get its value from another run. The field is given by its
// address: that of doc.Run.Name is run.name.
func fieldOf(doc *mapping.Run, address any) (path string, of func(*mapping.Run) any) {
	path, index := locate(reflect.ValueOf(doc).Elem(), address, "", nil)
	return path, func(run *mapping.Run) any { return reflect.ValueOf(run).Elem().FieldByIndex(index).Interface() }
}

// locate searches a struct. prefix and index are those of the struct itself. It returns no path if the field is not in it.
func locate(in reflect.Value, address any, prefix string, index []int) (path string, at []int) {
	for i := range in.NumField() {
		tag := in.Type().Field(i).Tag.Get("json")
		if tag == "" { // of time.Time
			continue
		}
		name, _, _ := strings.Cut(tag, ",")
		field, at := in.Field(i), append(index[:len(index):len(index)], i)
		if field.Addr().Interface() == address {
			return prefix + name, at
		}
		if field.Kind() == reflect.Struct {
			if path, at := locate(field, address, prefix+name+".", at); path != "" {
				return path, at
			}
		}
	}
	return "", nil
}
