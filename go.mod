module github.com/dpaccountant/accountant

go 1.25
