package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotice: NOTICE has the licences of the modules that the command is built of
// today. After a change of these:
//
//	go run ./internal/notice > NOTICE
func TestNotice(t *testing.T) {
	const root = "../.."
	var want bytes.Buffer
	if err := write(&want, root); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(root + "/NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("NOTICE is not that of today's modules: go run ./internal/notice > NOTICE")
	}
	modules, err := linked(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		if !strings.Contains(string(got), "\n"+m.Path+" "+m.Version+": ") {
			t.Errorf("NOTICE has no licence of %s %s", m.Path, m.Version)
		}
	}
}

// permissive has, for each kind of licence that we accept, words that no other kind has.
var permissive = map[string]string{
	"BSD":      "Redistribution and use in source and binary forms, with or without",
	"MIT":      "Permission is hereby granted, free of charge, to any person obtaining a copy",
	"Apache":   "Apache License Version 2.0",
	"ISC":      "Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted",
	"FreeType": "The FreeType Project LICENSE",
	"CC BY":    "Creative Commons Attribution 4.0 International Public License",
}

// TestPermissive: every module of the command is under a licence that lets anyone use it.
func TestPermissive(t *testing.T) {
	modules, err := linked("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		names, err := licences(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(chosen[m.Path]) > 0 {
			names = chosen[m.Path]
		}
		kind := ""
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(m.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			words := strings.Join(strings.Fields(string(text)), " ")
			for _, refused := range []string{"GNU GENERAL PUBLIC LICENSE", "GNU AFFERO", "GNU LESSER", "Server Side Public License", "Business Source License"} {
				if strings.Contains(strings.ToUpper(words), strings.ToUpper(refused)) {
					t.Errorf("%s: %s names the %s", m.Path, name, refused)
				}
			}
			for k, mark := range permissive {
				if strings.Contains(words, mark) {
					kind = k
				}
			}
		}
		if kind == "" {
			t.Errorf("%s: none of %q is a licence that is known as permissive", m.Path, names)
		}
	}
}
