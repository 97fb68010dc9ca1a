module github.com/dpaccountant/accountant/examples

go 1.25.0

require (
	github.com/dpaccountant/accountant v0.0.0
	github.com/dpaccountant/accountant/cmd v0.0.0
	github.com/dpaccountant/accountant/lab v0.0.0
)

require (
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/mjibson/go-dsp v0.0.0-20180508042940-11479a337f12 // indirect
	golang.org/x/sys v0.47.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)
