package matrix

// Posteriors is for tests of what rows say of coins.
var Posteriors = posteriors
