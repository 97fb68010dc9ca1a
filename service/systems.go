//go:build !page

package service

import "reflect"

// This file is the third part of the table of operations: questions that the page in a browser
// does not ask. It assumes nothing and is left out by the build tag page, with all that only these
// operations use.

var systems = []operation{
	does("risk", (*Service).Risk, "as `risk --json`"),
	does("profile", (*Service).Profile, "as `profile --json`"),
	does("plan-convert", (*Service).Convert, "as `plan convert --json`"),
	does("diff", (*Service).Diff, "as `diff --json`"),
	does("gdp", (*Service).GDP, "as `gdp --json`"),
	does("gdp-solve", (*Service).GDPSolve, "as `gdp solve --json`"),
	does("audit", (*Service).Audit, "as `audit --json`"),
	does("select", (*Service).Select, "as `select --json`"),
	does("majority", (*Service).Majority, "as `majority --json`"),
	does("pate", (*Service).Pate, "as `pate analyze --json`"),
	does("pate-publish", (*Service).PatePublish, "as `pate publish --json`; every call publishes anew"),
	does("pate-smooth", (*Service).PateSmooth, "as `pate smooth --json`; every call publishes anew"),
	does("label", (*Service).Label, "as `label --json`"),
	does("ledger-create", (*Service).LedgerCreate, "`{\"ledger\": NAME}`; without a path the ledger is in memory").needs(ScopeCreate),
	does("ledger-open", (*Service).LedgerOpen, "`{\"ledger\": NAME}`").needs(ScopeOwn),
	does("ledger-spend", (*Service).LedgerSpend, "`{\"spent\": true}`").needs(ScopeSpend),
	does("ledger-fits", (*Service).LedgerFits, "as `ledger fits --json`"),
	does("ledger-status", (*Service).LedgerStatus, "as `ledger status --json`"),
	does("ledger-log", (*Service).LedgerLog, "as `ledger log --json`"),
	does("ledger-check", (*Service).LedgerCheck, "as `ledger check --json`"),
	does("ledger-close", (*Service).LedgerClose, "`{\"ledger\": NAME}`").needs(ScopeOwn),
	does("explain", (*Service).explain, "as `explain --json`: one topic, or without a name the list of all").either(reflect.TypeFor[Topic](), reflect.TypeFor[[]Topic]()),
}
