module github.com/dpaccountant/accountant

go 1.25

require (
	github.com/mjibson/go-dsp v0.0.0-20180508042940-11479a337f12 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
