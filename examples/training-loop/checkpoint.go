package main

// A checkpoint is the state of a run after an epoch. There is none within an epoch: which example
// takes part in which of its steps is a secret that would have to be in the file.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/dpaccountant/accountant/lab/logit"
)

// checkpoint is the model after so many epochs. JSON keeps every bit of its numbers.
type checkpoint struct {
	Plan  string // of one epoch
	Epoch int
	Model logit.Model
	// Seed and Source are those of a run that can be repeated. The randomness of the operating system is
	// in no file: who reads it sees through the noise.
	Seed   uint64
	Source []byte `json:",omitempty"`

	path   string
	source *rand.PCG
}

// openCheckpoint returns the last checkpoint of a directory, or the beginning of a run.
func openCheckpoint(dir, plan string, seed uint64) (*checkpoint, error) {
	path := filepath.Join(dir, checkpointFile)
	cp := &checkpoint{Plan: plan, Seed: seed, path: path, source: rand.NewPCG(seed, 2)}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		cp.Model = newModel()
		return cp, nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, cp); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if cp.Plan != plan || cp.Seed != seed || cp.Epoch < 0 || !sized(cp.Model) {
		return nil, fmt.Errorf("%s: is of another run", path)
	}
	if seed != 0 {
		if err := cp.source.UnmarshalBinary(cp.Source); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return cp, nil
}

// save writes the checkpoint to its file.
func (cp *checkpoint) save() error {
	if cp.Seed != 0 {
		var err error
		if cp.Source, err = cp.source.MarshalBinary(); err != nil {
			return err
		}
	}
	data, err := json.Marshal(cp)
	if err != nil {
		return err
	}
	return writeFile(cp.path, append(data, '\n'))
}
