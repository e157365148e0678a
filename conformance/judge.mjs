// Judges the results that the suite left: node judge.mjs MODULES RESULTS LEG REVISION
//
// MODULES is the folder that npm made, RESULTS the suite's output folder, LEG server or client. Every scenario that
// the revision names for the leg must have a result, scored or not, and a scored one must have passed a check of its
// own. A check that failed or warned must be in baseline.yml, by itself or with its whole scenario, and a baseline
// entry whose scenario (or check) ran must have failed or warned. An entry that no revision knows is wrong too.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, folder, leg, revision] = process.argv.slice(2);
const { parse } = createRequire(resolve(modules, 'index.js'))('yaml');
const here = dirname(fileURLToPath(import.meta.url));
const read = (path) => parse(readFileSync(path, 'utf8'));

const requirements = join(modules, '@modelcontextprotocol/conformance/requirements');
const scenariosOf = (set) => [
  ...set[leg],
  ...set.not_scored.filter((s) => s.leg === leg).map((s) => s.scenario)
];
const wanted = read(join(requirements, `${revision}.yaml`));
const scenarios = scenariosOf(wanted);
const everywhere = new Set(readdirSync(requirements).flatMap((name) => scenariosOf(read(join(requirements, name)))));
const excused = new Set(read(join(here, 'baseline.yml'))[leg] ?? []);

// One folder a scenario, server-NAME-TIME or NAME-TIME, where TIME has a fixed shape and NAME may have slashes.
const results = new Map();
for (const entry of readdirSync(folder, { recursive: true })) {
  const name = /^(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(entry)?.[1];
  if (!name) continue;
  const checks = JSON.parse(readFileSync(join(folder, entry, 'checks.json'), 'utf8'));
  if (leg === 'client') checks.push(ending(join(folder, entry)));
  results.set(leg === 'server' ? name.replace(/^server-/, '') : name, checks);
}

// How the client itself says that it ended, which the suite does not look at: conformance/client prints "done".
function ending(result) {
  const [out, err] = ['stdout.txt', 'stderr.txt'].map((file) => readFileSync(join(result, file), 'utf8').trim());
  return { id: 'client-done', status: out === 'done' && err === '' ? 'SUCCESS' : 'FAILURE', errorMessage: err || 'did not end' };
}

// Checks that every scenario gets: they say nothing of what the scenario is about.
const wire = 'wire-schema-valid';
const general = new Set([wire, 'client-done']);
const scored = new Set(wanted[leg]);
const bad = (check) => check.status === 'FAILURE' || check.status === 'WARNING';
const wrong = [];
let passed = 0;
let known = 0;

for (const entry of excused) {
  if (!everywhere.has(entry.split(':')[0])) wrong.push(`${entry}: in baseline.yml, but no revision has it`);
}
for (const scenario of scenarios) {
  const checks = results.get(scenario);
  if (!checks?.length) {
    wrong.push(`${scenario}: left no result`);
    continue;
  }
  const whole = excused.has(scenario);
  let any = false;
  const ids = new Map();
  for (const check of checks) {
    any ||= bad(check);
    ids.set(check.id, ids.get(check.id) || bad(check));
    if (!bad(check)) continue;
    if (whole && check.id !== wire || excused.has(`${scenario}:${check.id}`)) known++;
    else wrong.push(`${scenario}:${check.id} ${check.status}: ${check.errorMessage ?? check.description}`);
  }
  if (scored.has(scenario) && !any && !checks.some((c) => c.status === 'SUCCESS' && !general.has(c.id))) {
    wrong.push(`${scenario}: passed nothing`);
  }
  passed += checks.filter((check) => check.status === 'SUCCESS').length;
  if (whole && !any) wrong.push(`${scenario}: passes, remove it from baseline.yml`);
  for (const [id, failed] of ids) {
    if (!failed && excused.has(`${scenario}:${id}`)) wrong.push(`${scenario}:${id}: passes, remove it from baseline.yml`);
  }
}

for (const line of wrong) console.log(`✗ ${line}`);
console.log(`${leg}, ${revision}: ${scenarios.length} scenarios, ${passed} checks passed, ${known} known failures, ${wrong.length} wrong`);
process.exit(wrong.length ? 1 : 0);
