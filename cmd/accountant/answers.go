package main

import (
	"context"
	"fmt"
	"io"
	"reflect"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
)

// This file knows which answer is printed, drawn and warned about how.

// A list has several answers, which are printed one after the other.
type list interface{ All() []any }

// text prints an answer for people.
func (a *asking) text(w io.Writer, answer any) {
	switch x := answer.(type) {
	case list:
		for i, one := range x.All() {
			if i > 0 {
				fmt.Fprintln(w)
			}
			a.text(w, one)
		}
	case service.EpsilonAnswer:
		printIntervals(w, x, epsilonAnswers(x.Results), a.detail)
	case service.DeltaAnswer:
		printIntervals(w, x, deltaAnswers(x.Results), a.detail)
	case service.DPSGDAnswer:
		printDPSGD(w, x, a.detail)
	case service.ShuffleAnswer:
		printShuffle(w, x, a.detail)
	case service.RiskAnswer:
		printRisk(w, x)
	case service.Curves:
		fmt.Fprintf(w, "wrote %s\n", printable(a.draw.file))
	case service.CompareAnswer:
		printComparison(w, x)
	case service.GDPAnswer:
		printGDP(w, x)
	case service.FilterAnswer:
		printFilter(w, x)
	case service.GDPSolution:
		printGDPSolution(w, x)
	case service.Solution:
		printSolution(w, x, a.detail, a.request.(*service.CalibrateRequest).Recursion)
	case service.Difference:
		printDiff(w, x)
	case service.ConvertAnswer:
		io.WriteString(w, x.Text)
	case service.Profile:
		printProfile(w, x)
		if a.draw.file != "" {
			fmt.Fprintf(w, "\nwrote %s\n", printable(a.draw.file))
		}
	case service.SamplingAnswer:
		printSampling(w, x)
	case *service.AuditAnswer:
		printAudit(w, x)
	case service.SelectAnswer:
		selectWriteTable(w, x)
	case *service.MajorityAnswer:
		printMajority(w, x)
	case service.MatrixOptimizeAnswer:
		printMatrixOptimum(w, x)
	case service.PateAnswer:
		writePate(w, x)
	case *service.PateCalibration:
		writePateCalibration(w, x)
	case *service.PatePublishAnswer:
		writePatePublish(w, x, a.request.(*service.PatePublishRequest).Seed != nil)
	case *service.PateSmoothAnswer:
		writePateSmooth(w, x, a.request.(*service.PateSmoothRequest).Seed != nil)
	case *service.LabelAnswer:
		printLabel(w, x)
	case []service.Topic:
		printTopics(w, x, a.request.(*service.ExplainRequest).Topic)
	case service.VersionAnswer:
		fmt.Fprintln(w, versionLine(x))
	}
}

// warnAbout prints the warnings of an answer.
func warnAbout(w io.Writer, about any) {
	switch x := about.(type) {
	case list:
		for _, one := range x.All() {
			warnAbout(w, one)
		}
	case service.EpsilonAnswer:
		warn(w, epsilonAnswers(x.Results))
	case service.DeltaAnswer:
		warn(w, deltaAnswers(x.Results))
	case service.DPSGDAnswer:
		warn(w, epsilonAnswers(x.Results))
		warn(w, epsilonAnswers(x.AnyOrder.Results))
	case service.ShuffleAnswer:
		warn(w, epsilonAnswers(x.Results))
	case service.Difference:
		warn(w, epsilonAnswers([]service.EpsilonAt{x.Old, x.New}))
	case service.Solution:
		c := comparedWith(x)
		warn(w, []answer{{asked: c.asked, told: c.told, at: c.at, Basis: service.Basis{Warnings: x.Notes}}})
	case service.SamplingAnswer:
		for _, text := range samplingWarnings(x.Schemes) {
			fmt.Fprintf(w, "%s%s\n", warning(w), text)
		}
	case service.Curves:
		warnCurves(w, x.Curves)
	default:
		if v := reflect.Indirect(reflect.ValueOf(about)); v.Kind() == reflect.Struct && v.FieldByName("Warnings").IsValid() {
			warnings, _ := v.FieldByName("Warnings").Interface().([]string)
			warnAll(w, warnings)
		}
	}
}

// pictureOf draws an answer.
func (a *asking) pictureOf(ctx context.Context, answer any) (figure.Picture, error) {
	switch x := answer.(type) {
	case list:
		if all := x.All(); len(all) > 1 {
			return figure.Picture{}, fault.New("--plot", "draws one answer, and there are %d", len(all))
		}
		return a.pictureOf(ctx, x.All()[0])
	case service.Curves:
		q := a.request.(*service.CurveRequest)
		return drawCurves(ctx, x, q.Log, q.RDP, a.title)
	case service.RiskAnswer:
		return riskPicture(x), nil
	case service.CompareAnswer:
		return comparisonPicture(x), nil
	case service.Profile:
		return profilePicture(ctx, x)
	case service.SamplingAnswer:
		return samplingPicture(x)
	case *service.AuditAnswer:
		return auditPicture(x), nil
	case service.SelectAnswer:
		return selectPicture(x), nil
	case *service.MajorityAnswer:
		return majorityPicture(x.Families), nil
	case service.PateAnswer:
		return patePicture(ctx, x)
	case *service.LabelAnswer:
		return labelPicture(x.Randomizer), nil
	}
	return figure.Picture{}, nil
}
