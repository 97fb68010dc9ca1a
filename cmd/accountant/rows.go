package main

import "github.com/dpaccountant/accountant/cmd/service"

// This file has the rows of CSV, for answers that suit it better in another order than
// that of their JSON.

// rowsOf returns the rows of an answer, or v itself.
func rowsOf(v any) any {
	switch v := v.(type) {
	case service.EpsilonAnswer: // a row for each δ; what matrices are made of is no column
		return struct {
			Neighbors string              `json:"neighbors"`
			Results   []service.EpsilonAt `json:"results"`
		}{v.Neighbors, v.Results}
	case service.DeltaAnswer:
		return struct {
			Neighbors string            `json:"neighbors"`
			Results   []service.DeltaAt `json:"results"`
		}{v.Neighbors, v.Results}
	case service.DPSGDAnswer:
		return dpsgdRows(v)
	case service.RiskAnswer:
		return riskRows(v)
	case service.Curves:
		return curveRows(v)
	case *service.MajorityAnswer:
		return majorityRows(v)
	case service.PateAnswer:
		return pateRows(v)
	case *service.LabelAnswer:
		return labelRows(v)
	}
	return v
}

// dpsgdRows has a row for each δ, and another for the same run in any order.
func dpsgdRows(d service.DPSGDAnswer) any {
	type row struct {
		service.DPSGDRun
		Sampling string `json:"sampling"`
		service.EpsilonAt
	}
	var rows []row
	for _, e := range d.Results {
		rows = append(rows, row{d.DPSGDRun, d.Batching, e})
	}
	for _, e := range d.AnyOrder.Results {
		rows = append(rows, row{d.DPSGDRun, "any-order", e})
	}
	return rows
}

// riskRows has a row for each measure, and at says of which rate or prior.
func riskRows(r service.RiskAnswer) any {
	type row struct {
		Neighbors string          `json:"neighbors"`
		Measure   string          `json:"measure"`
		At        *service.Number `json:"at"`
		service.RiskValue
		TheoryGap bool `json:"theory-gap"`
	}
	rows := []row{{r.Neighbors, "advantage", nil, r.Advantage, r.TheoryGap}}
	for _, v := range r.TruePositive {
		rows = append(rows, row{r.Neighbors, "true-positive-rate", &v.FalsePositive, v.RiskValue, r.TheoryGap})
	}
	for _, v := range r.Bayes {
		rows = append(rows, row{r.Neighbors, "bayes-success", &v.Prior, v.RiskValue, r.TheoryGap})
	}
	return rows
}

// curveRows has one row for each point, its columns named after the axes.
func curveRows(c service.Curves) any {
	t := csvTable{columns: []string{"plan", "neighbors", c.X, c.Y + "-lower", c.Y + "-estimate", c.Y + "-upper", "worst-direction"}}
	rdp := false
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			rdp = rdp || p.RDP != nil
		}
	}
	if rdp {
		t.columns = append(t.columns, "rdp-upper", "rdp-classic-upper")
	}
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			row := []string{curve.Plan, curve.Neighbors, p.X.String(), p.Lower.String(), p.Estimate.String(), p.Upper.String(), p.WorstDirection}
			switch {
			case p.RDP != nil:
				row = append(row, p.RDP.Upper.String(), p.RDP.ClassicUpper.String())
			case rdp:
				row = append(row, "", "")
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// majorityRows has a row for each number of votes.
func majorityRows(a *service.MajorityAnswer) any {
	type row struct {
		Votes int     `json:"votes"`
		Gamma float64 `json:"gamma"`
	}
	var t struct {
		Objective float64            `json:"objective"`
		MaxF      float64            `json:"max-f"`
		BudgetF   float64            `json:"budget-f"`
		Certified bool               `json:"certified"`
		Error     map[string]float64 `json:"error"`
		Rows      []row
	}
	t.Objective, t.MaxF, t.BudgetF, t.Certified, t.Error = a.Objective, a.MaxF, a.BudgetF, a.Certified, a.Error
	for votes, gamma := range a.Gamma {
		t.Rows = append(t.Rows, row{votes, gamma})
	}
	return t
}

// pateRows has a row for each Rényi order.
func pateRows(a service.PateAnswer) any {
	type row struct {
		Delta       float64 `json:"delta"`
		Report      string  `json:"report"`
		Bound       bool    `json:"bound"`
		Epsilon     float64 `json:"epsilon"`
		Order       float64 `json:"order"`
		Independent float64 `json:"data-independent-epsilon"`
		Answered    float64 `json:"answered"`
		At          float64 `json:"rdp-order"`
		RDP         float64 `json:"rdp"`
		Threshold   float64 `json:"threshold-rdp"`
		Answer      float64 `json:"answer-rdp"`
		Guarantee   string  `json:"guarantee"`
	}
	rows := make([]row, len(a.Orders))
	for i, order := range a.Orders {
		rows[i] = row{a.Delta, a.Report, a.Bound, a.Epsilon, a.Order, a.Independent, a.Answered, order, a.RDP[i], a.Threshold[i], a.Answer[i], a.Guarantee}
	}
	return rows
}

// labelRows has a row for each label and output: the law itself.
func labelRows(a *service.LabelAnswer) any {
	type row struct {
		Epsilon     float64 `json:"epsilon"`
		Label       float64 `json:"label"`
		Prior       float64 `json:"prior"`
		Output      float64 `json:"output"`
		Probability float64 `json:"probability"`
	}
	rows := []row{}
	for i, label := range a.Labels {
		for j, output := range a.Outputs {
			rows = append(rows, row{a.Epsilon, label, a.Prior[i], output, a.Probabilities[i][j]})
		}
	}
	return rows
}
