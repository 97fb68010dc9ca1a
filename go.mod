module github.com/dpaccountant/accountant

go 1.25

require github.com/goccy/go-yaml v1.19.2

require (
	github.com/google/go-cmp v0.7.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
