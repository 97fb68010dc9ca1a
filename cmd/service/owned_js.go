package service

// owned is empty for the page in a browser, which answers questions and runs nothing: a module of a tenth less.
var owned []Operation
