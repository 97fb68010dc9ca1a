package service

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const certifiedPlan = `{"neighbors": "add-remove", "steps": [
	{"steps": [{"mechanism": {"gaussian": {"noise-multiplier": 2}}, "sampling": {"poisson": {"rate": 0.25}}, "count": 3}], "count": 4},
	{"mechanism": {"discrete-laplace": {"noise-multiplier": 2}}}]}`

func TestCertificate(t *testing.T) {
	answer := New(nil).AnswerTo(context.Background(), "epsilon", json.RawMessage(`{"plan": `+certifiedPlan+`, "delta": 1e-5, "certificate": true}`))
	if answer.Error != nil {
		t.Fatal(answer.Error)
	}
	data, err := json.Marshal(answer.Result)
	if err != nil {
		t.Fatal(err)
	}
	var got EpsilonAnswer
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	body, hash, _ := strings.Cut(got.Certificate, "sha256 ")
	if want := fmt.Sprintf("%x\n", sha256.Sum256([]byte(body))); hash != want {
		t.Errorf("the hash is %q, want %q", hash, want)
	}
	for _, line := range []string{
		"accountant certificate 3", "neighbors add-remove", "records-per-person 1",
		"step 12 gaussian noise-multiplier 0x1p+1 poisson rate 0x1p-2", // groups are multiplied out
		"step 1 discrete-laplace noise-multiplier 0x1p+1 sensitivity 1",
		"delta 0x1.4f8b588e368f1p-17", "direction remove",
	} {
		if !strings.Contains("\n"+body, "\n"+line+"\n") {
			t.Errorf("there is no line %q in\n%s", line, body)
		}
	}
}

// TestCertificateIsPrintable: whatever name a builder gives a version, the text has printable ASCII only.
func TestCertificateIsPrintable(t *testing.T) {
	defer func(v string) { releaseVersion = v }(releaseVersion)
	releaseVersion = "1.0\x1b[2J \u00e9\u202e\x7f\r\nneighbors substitute"
	answer := New(nil).AnswerTo(context.Background(), "epsilon", json.RawMessage(`{"plan": `+certifiedPlan+`, "delta": 1e-5, "certificate": true}`))
	if answer.Error != nil {
		t.Fatal(answer.Error)
	}
	text := answer.Result.(EpsilonAnswer).Certificate
	if !strings.HasPrefix(text, "accountant certificate 3\nversion 1.0?[2J ??? neighbors substitute") {
		t.Errorf("%q", text)
	}
}

func TestCertificateIsOfOneDelta(t *testing.T) {
	for _, body := range []string{`"delta": [1e-5, 1e-6]`, `"delta": 1e-5, "accountant": "rdp"`, `"delta": 1e-5, "group-black-box": true`} {
		err := New(nil).AnswerTo(context.Background(), "epsilon", json.RawMessage(`{"plan": `+certifiedPlan+`, "certificate": true, `+body+`}`)).Error
		if err == nil || !strings.HasPrefix(err.Message, "certificate") || err.Field != "certificate" {
			t.Errorf("%s: %v", body, err)
		}
	}
}
