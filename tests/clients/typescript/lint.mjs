// Lints the API's description by Redocly's rules, offline; prints problems and exits non-zero if there are any.
import { createConfig, lint } from "@redocly/openapi-core";

const [file] = process.argv.slice(2);
const config = await createConfig({ extends: ["recommended-strict"], rules: { "info-license": "off" } });
const problems = await lint({ ref: file, config });
for (const { ruleId, message, location } of problems) {
  console.error(`${location.map((at) => at.pointer ?? "").join(" ")}: ${ruleId}: ${message}`);
}
process.exit(problems.length ? 1 : 0);
