package plugins

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/scqm/scqm/framework"
)

// authored returns the value that the author of a plugin wrote: the loss, or the form from which it was made.
func authored(l framework.Loss) any {
	if f, ok := l.(formed); ok {
		return f.form()
	}
	return l
}

// schemaOf derives the schema of the parameters from the fields of the struct of the loss.
func schemaOf(l framework.Loss) (Schema, error) {
	s := Schema{Properties: map[string]Property{}}
	v := reflect.ValueOf(authored(l))
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return s, nil
	}
	v = v.Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || field.Anonymous || name == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		p, err := propertyOf(field, v.Field(i))
		if err != nil {
			return s, fmt.Errorf("field %s: %w", field.Name, err)
		}
		s.Properties[name] = p
	}
	return s, s.check()
}

func propertyOf(field reflect.StructField, v reflect.Value) (Property, error) {
	p := Property{Description: field.Tag.Get("doc")}
	switch v.Kind() {
	case reflect.Float64:
		p.Type, p.Default = "number", v.Float()
	case reflect.Int:
		p.Type, p.Default = "integer", float64(v.Int())
	case reflect.Bool:
		p.Type, p.Default = "boolean", v.Bool()
	case reflect.String:
		p.Type, p.Default = "string", v.String()
	default:
		return p, fmt.Errorf("a parameter cannot be a %v; use float64, int, bool or string, or tag the field json:\"-\"", v.Type())
	}
	for tag, bound := range map[string]**float64{
		"min": &p.Minimum, "max": &p.Maximum, "above": &p.ExclusiveMinimum, "below": &p.ExclusiveMaximum,
	} {
		text, ok := field.Tag.Lookup(tag)
		if !ok {
			continue
		}
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return p, fmt.Errorf("tag %s: %q is not a number", tag, text)
		}
		*bound = &number
	}
	return p, nil
}

// withParams returns a copy of a loss with the parameters from a JSON object. It checks
// the parameters again, because not every host checks them.
func withParams(prototype framework.Loss, text string) (framework.Loss, error) {
	schema, err := schemaOf(prototype)
	if err != nil {
		return nil, err
	}
	given, err := parseParams(text)
	if err != nil {
		return nil, err
	}
	params, err := schema.complete(given)
	if err != nil {
		return nil, err
	}
	if len(schema.Properties) == 0 {
		return prototype, nil
	}
	own := reflect.ValueOf(authored(prototype))
	fresh := reflect.New(own.Type().Elem())
	fresh.Elem().Set(own.Elem())
	if err := setFields(fresh, params); err != nil {
		return nil, err
	}
	if v, ok := fresh.Interface().(Validator); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	if f, ok := prototype.(formed); ok {
		return f.of(fresh.Interface().(form)), nil
	}
	return fresh.Interface().(framework.Loss), nil
}

func setFields(to reflect.Value, params map[string]any) error {
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to.Interface())
}

// parseParams decodes parameters in the JSON form in which they are sent and stored. "" means no parameters.
func parseParams(text string) (map[string]any, error) {
	given := map[string]any{}
	if text == "" {
		return given, nil
	}
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return nil, fmt.Errorf("the parameters are not a JSON object: %w", err)
	}
	return given, nil
}
