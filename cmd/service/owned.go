//go:build !js

package service

// owned are the operations that draw noise, run mechanisms or keep a ledger.
var owned = []Operation{
	does("local-messages", (*Service).localMessages, "`{\"messages\": [[NUMBER, …], …]}`, one of each value").needs(ScopeOwn),
	does("local-estimates", (*Service).localEstimates, "`{\"estimates\": [{\"value\": V, \"count\": N, \"deviation\": S}, …]}`").needs(ScopeOwn),
	does("draw", (*Service).draw, "`{\"batches\": [[INDEX, …], …]}`, the first batches of a run").needs(ScopeOwn),
	does("query", (*Service).query, "as `query --json`; every call draws noise anew").needs(ScopeOwn),
	does("release", (*Service).release, "`{\"chosen\": INDEX}`, `{\"values\": [NUMBER or null, …]}` or `{\"answers\": [CLASS, …]}`").needs(ScopeOwn),
	does("pate-answer", (*Service).pateAnswer, "`{\"labels\": [CLASS, …], \"answered\": [BOOLEAN, …]}`").needs(ScopeOwn),
	does("label-apply", (*Service).labelApply, "`{\"column\": [LABEL, …], \"outputs\": [LABEL, …]}`").needs(ScopeOwn),
	does("run-open", (*Service).runOpen, "`{\"run\": NAME}`, a search or a stream, and what it costs where that is known").needs(ScopeOwn),
	does("run-next", (*Service).RunNext, "`{\"try\": true}`, `{\"values\": [NUMBER, …]}` or what was found").needs(ScopeOwn),
	does("run-close", (*Service).RunClose, "`{\"run\": NAME}`").needs(ScopeOwn),
	does("pate-publish", (*Service).patePublish, "as `pate publish --json`; every call publishes anew"),
	does("pate-smooth", (*Service).pateSmooth, "as `pate smooth --json`; every call publishes anew"),
	does("ledger-create", (*Service).ledgerCreate, "`{\"ledger\": NAME}`; without a path the ledger is in memory").needs(ScopeCreate),
	does("ledger-open", (*Service).LedgerOpen, "`{\"ledger\": NAME}`").needs(ScopeOwn),
	does("ledger-spend", (*Service).LedgerSpend, "`{\"spent\": true}`").needs(ScopeSpend),
	does("ledger-fits", (*Service).ledgerFits, "as `ledger fits --json`"),
	does("ledger-status", (*Service).ledgerStatus, "as `ledger status --json`"),
	does("ledger-log", (*Service).ledgerLog, "as `ledger log --json`"),
	does("ledger-check", (*Service).ledgerCheck, "as `ledger check --json`"),
	does("ledger-close", (*Service).ledgerClose, "`{\"ledger\": NAME}`").needs(ScopeOwn),
}
