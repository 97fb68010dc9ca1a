package allocation

// The parameters of schemes by their keys in plan files, for who writes a step down.

// Parameters returns the parameters by their keys in plan files.
func (s Random) Parameters() map[string]any {
	p := map[string]any{"steps": s.steps}
	if s.uses > 1 {
		p["uses"] = s.uses
	}
	if s.part != s.steps {
		p["first"] = s.part
	}
	return withEpochs(p, s.epochs, s.redraw)
}

// Parameters returns the parameters by their keys in plan files.
func (s Shuffle) Parameters() map[string]any {
	p := map[string]any{"batches": s.batches}
	if s.unused > 0 {
		p["unused"] = s.unused
	}
	return withEpochs(p, s.epochs, s.redraw)
}

// Parameters returns the parameters by their keys in plan files.
func (s Truncated) Parameters() map[string]any {
	return map[string]any{"rate": s.rate, "cap": s.cap, "population": s.population}
}

// Parameters returns the parameters by their keys in plan files.
func (s Fixed) Parameters() map[string]any { return map[string]any{"uses": s.uses} }

func withEpochs(p map[string]any, epochs int64, redraw Redraw) map[string]any {
	if redraw == Once {
		p["redraw"] = "once"
	}
	if redraw == Once || epochs > 1 {
		p["epochs"] = epochs
	}
	return p
}
