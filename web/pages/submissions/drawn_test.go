package submissions

import (
	"reflect"
	"strings"
	"testing"
)

// TestKeysOfDrawnChartsHideNothing checks that the types in the keys of cachedCharts have no unexported fields. Keys
// are encoded as JSON, which omits such fields, so two runs that differ only there would share a chart. Types of
// package ncu are excluded, because the keys have the hashes of their reports.
func TestKeysOfDrawnChartsHideNothing(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(at string, typ reflect.Type)
	look = func(at string, typ reflect.Type) {
		if seen[typ] || strings.HasSuffix(typ.PkgPath(), "evaluator/ncu") || typ.PkgPath() == "time" {
			return
		}
		seen[typ] = true
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(at, typ.Elem())
		case reflect.Func, reflect.Chan:
			t.Errorf("%s is a %s", at, typ)
		case reflect.Struct:
			for field := range typ.Fields() {
				if !field.IsExported() || strings.HasPrefix(field.Tag.Get("json"), "-") {
					t.Errorf("%s.%s is not part of the key", at, field.Name)
				}
				look(at+"."+field.Name, field.Type)
			}
		}
	}
	look("detailsOf", reflect.TypeFor[profileData]())
	look("bothOf", reflect.TypeFor[comparisonData]())
}
