module github.com/dpaccountant/accountant

go 1.25

require pgregory.net/rapid v1.3.0
