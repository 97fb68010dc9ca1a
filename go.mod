module github.com/dpaccountant/accountant

go 1.25.0

require (
	github.com/goccy/go-yaml v1.19.2
	github.com/gofrs/flock v0.13.1
	github.com/google/go-cmp v0.7.0
	github.com/mjibson/go-dsp v0.0.0-20180508042940-11479a337f12
	gonum.org/v1/gonum v0.17.0
	pgregory.net/rapid v1.3.0
)

require golang.org/x/sys v0.47.0 // indirect
