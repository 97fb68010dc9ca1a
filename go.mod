module github.com/dpaccountant/accountant

go 1.25.0

require (
	github.com/goccy/go-yaml v1.19.2
	github.com/mjibson/go-dsp v0.0.0-20180508042940-11479a337f12
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	gonum.org/v1/gonum v0.17.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
	golang.org/x/tools v0.36.0 // indirect
)
