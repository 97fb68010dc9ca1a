package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"time"
)

// This file makes archives, with the same bytes for the same files and date.

// archive returns the files in a folder: a zip for Windows, else a tar.gz.
func archive(p platform, folder string, files []file, date time.Time) ([]byte, error) {
	inside := make([]file, len(files))
	for i, f := range files {
		inside[i] = file{path.Join(folder, f.name), f.mode, f.content}
	}
	if p.os == "windows" {
		return zipped(inside, date)
	}
	return tarred(inside, date)
}

// tarred returns a tar.gz of files that belong to root.
func tarred(files []file, date time.Time) ([]byte, error) {
	var out bytes.Buffer
	g, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(g)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.content)), ModTime: date, Uname: "root", Gname: "root", Format: tar.FormatGNU}
		if f.mode.IsDir() {
			h.Typeflag, h.Size = tar.TypeDir, 0
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if err := g.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func zipped(files []file, date time.Time) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// gzipped returns a compressed file, without a name or a date in it.
func gzipped(content []byte) ([]byte, error) {
	var out bytes.Buffer
	g, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(g, bytes.NewReader(content)); err != nil {
		return nil, err
	}
	if err := g.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
