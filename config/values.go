package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/internal/expr"
)

// asWritten makes the values below a node texts, as they are written in the file: the label 1.10 must not become the
// number 1.1.
func asWritten(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && slices.Contains([]string{"!!int", "!!float", "!!bool", "!!timestamp"}, n.ShortTag()) {
		n.Tag = "!!str"
	}
	for _, below := range n.Content {
		asWritten(below)
	}
}

// stringToDuration reads times such as 5m.
func stringToDuration(from, to reflect.Type, value any) (any, error) {
	if from.Kind() != reflect.String || to != reflect.TypeFor[time.Duration]() {
		return value, nil
	}
	d, ok := expr.ParseDuration(value.(string))
	if !ok {
		return nil, fmt.Errorf("%s is not a time such as 90s or 5m", value)
	}
	return d, nil
}

// stringToMap reads "a=b,c=d", the form of variables of the environment.
func stringToMap(from, to reflect.Type, value any) (any, error) {
	if from.Kind() != reflect.String || to.Kind() != reflect.Map {
		return value, nil
	}
	out := map[string]string{}
	for pair := range strings.SplitSeq(value.(string), ",") {
		if pair == "" {
			continue
		}
		k, v, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("%s is not NAME=VALUE", pair)
		}
		out[k] = v
	}
	return out, nil
}

// where returns the name of a setting and the place that it comes from.
func (c *Config) where(name string) string {
	switch from := c.Origins[name]; {
	case from == "":
		return name
	case strings.HasPrefix(from, "--") || strings.HasPrefix(from, envPrefix):
		return from
	default:
		return from + ": " + name
	}
}

// wanted describes the values of each type of settings.
var wanted = map[reflect.Kind]string{
	reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Float64: "a number", reflect.String: "a text",
}

// valueFaults returns the errors of values that do not fit their settings. It replaces the words of the library.
func (c *Config) valueFaults(err error) (faults []error) {
	for _, err := range each(err) {
		var of *mapstructure.DecodeError
		if !errors.As(err, &of) {
			faults = append(faults, err)
			continue
		}
		name, _, _ := strings.Cut(of.Name(), "[") // labels[a]
		var parse *mapstructure.ParseError
		var kind *mapstructure.UnconvertibleTypeError
		switch fault := of.Unwrap(); {
		case errors.As(fault, &parse):
			fault = fmt.Errorf("%v is not %s", parse.Value, wanted[parse.Expected.Kind()])
			faults = append(faults, fmt.Errorf("%s: %w", c.where(name), fault))
		case errors.As(fault, &kind):
			faults = append(faults, fmt.Errorf("%s: want %s", c.where(name), wanted[kind.Expected.Kind()]))
		default:
			faults = append(faults, fmt.Errorf("%s: %w", c.where(name), fault))
		}
	}
	return faults
}
