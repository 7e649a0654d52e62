"""Alert rules, their tests, dashboards and the runbook's table of alerts: files that are generated from here."""
