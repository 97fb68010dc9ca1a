package plan

import (
	"encoding/json"

	"github.com/dpaccountant/accountant/profiles"
)

// This file describes plans to editors, as a JSON Schema that is made from the tables by
// which plans are read. It says which keys there are and of which kind their values are;
// ranges, and which keys go together, are said by Parse alone.

// A schema is a part of a JSON Schema.
type schema map[string]any

// Schema returns the JSON Schema (draft 2020-12) of plans, for editors that complete and
// check YAML or JSON.
func Schema() []byte {
	step := schema{"$ref": "#/$defs/step"}
	steps := schema{"type": "array", "items": step, "minItems": 1}
	var relations []string
	for _, r := range profiles.Relations() {
		relations = append(relations, r.String())
	}
	root := object(planKeys, schema{
		"neighbors":          schema{"enum": relations, "description": "the neighbouring relation"},
		"records-per-person": described("a whole number", "how many records a person has at most"),
		"steps":              steps,
	})
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "plan of differentially private mechanisms"
	root["required"] = []string{"neighbors", "steps"}
	root["$defs"] = schema{"step": object(stepKeys, schema{
		"name":      schema{"type": "string", "description": "free text"},
		"mechanism": oneOf(mechanisms()),
		"sampling":  oneOf(samplings()),
		"count":     described("a whole number", "how many times the step runs, such as 14063 or ceil(60000/256*60)"),
		"steps":     steps,
		"selection": object(selectionKeys, nil),
	})}
	data, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("plan: " + err.Error()) // texts, lists and maps alone
	}
	return append(data, '\n')
}

// object is a mapping of these keys, of which some have a schema.
func object(keys []string, known schema) schema {
	properties := schema{}
	for _, key := range keys {
		properties[key] = schema{}
		if s, ok := known[key]; ok {
			properties[key] = s
		}
	}
	return schema{"type": "object", "properties": properties, "additionalProperties": false}
}

// oneOf is a mapping with one key, the name of an entry.
func oneOf[T any](table []entry[T]) schema {
	kinds := schema{}
	for _, e := range table {
		kinds[e.name] = object(e.keys, e.schema())
	}
	return schema{"type": "object", "properties": kinds, "additionalProperties": false, "minProperties": 1, "maxProperties": 1}
}

// schema returns what the parameters of an entry are, as far as building it without any
// asks for them.
func (e entry[T]) schema() schema {
	known := schema{}
	v := &values{node: &node{kind: mapNode}, asked: func(key, what string) { known[key] = described(what, "") }}
	_, _ = e.build(v)
	return known
}

// described is the schema of a value as messages call it. A number may be an expression,
// which JSON has as a string.
func described(what, text string) schema {
	s := schema{}
	switch what {
	case "a number":
		s["type"] = []string{"number", "string"}
	case "a whole number":
		s["type"] = []string{"integer", "string"}
	case "a list of numbers":
		s["type"], s["items"] = "array", schema{"type": []string{"number", "string"}}
	case "a word":
		s["type"] = "string"
	}
	if text != "" {
		s["description"] = text
	}
	return s
}
