/** Generates documentation from the code. `--check` verifies that it is up to date and that links resolve. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { limitsMarkdown, settingsMarkdown, vendorsMarkdown } from '../packages/server/src/config/config.ts';
import { DESCRIPTIONS, type Described } from '../packages/server/src/describe/descriptions.ts';
import { referenceTables } from '../packages/server/src/describe/markdown.ts';
import { documentsOf } from '../packages/server/src/describe/served.ts';
import { DIALECTS } from '../packages/server/src/dialects/index.ts';
import { metricRows } from '../packages/server/src/telemetry/metric-list.ts';
import { documents, linkProblems } from './links.ts';
import { eventReference } from './reference/events.ts';

/** Replaces the generated table between two comments; the surrounding text is written by hand. */
const between = (text: string, table: string): string =>
  text.replace(/(<!-- made by scripts\/docs\.ts -->\n)[\s\S]*?(?=\n<!-- until here -->)/, `$1${table}`);

const dialects = DESCRIPTIONS.filter(({ name }) => name !== 'server');

const HEADINGS: Readonly<Record<string, string>> = {
  'client-messages': 'Client → server',
  'server-messages': 'Server → client',
  endpoints: 'Endpoints',
};

/** Generated files: path → new content from the current content. */
const MADE: Readonly<Record<string, (text: string) => string>> = {
  'docs/guides/configuration.md': () => `# Configuration

Every setting has an environment variable and a key in the config file; most have a flag. A flag overrides the environment, and the environment
overrides the file. An invalid value stops the start with one line that names it.

The config file is JSON, in which \`// …\` and \`/* … */\` are comments; \`parlance init\` keeps them. It is the file named by \`--config\` or \`PARLANCE_CONFIG\`, or else \`config.json\` in the data folder (\`./.parlance/config.json\` by
default). Tools and commands cannot read it. Relative paths in it are resolved against the current folder, those of MCP servers and tool modules against the folder of the file.

The working directory of tools configures nothing, because agents and cloned repositories write there and a configuration names programs to run. A
\`parlance.json\` in the current folder or in the working directory is ignored with a log line. \`.env\`, \`bunfig.toml\` and \`tsconfig.json\` there are ignored as well.

## The default data folder

A data folder decides what the server runs: its \`config.json\` names programs, and the turns in its database are resumed. The default \`./.parlance\` is
therefore used only if it is missing, empty, or known to be yours. Otherwise the start fails with one line: if you trust the folder, start once with
\`--data .parlance\`.

- A folder is known if your server, \`parlance user add\` or \`parlance import\` created it, or if you started your server with its name. This is recorded in
  \`$XDG_STATE_HOME/parlance\` (\`~/.local/state/parlance\`), outside of the folder, so that an archive cannot contain it.
- Name the folder once if an earlier version created it, if you put a \`config.json\` there before the first start, or if you moved or restored it.
- Name it at every start (\`--data\`, \`PARLANCE_DATA\`) if it is a symbolic link, if a git repository tracks it, or if HOME is not set or not writable. A
  named folder needs neither HOME nor a record.

## All settings

<!-- made by scripts/docs.ts -->
${settingsMarkdown().trim()}
`,
  'docs/guides/limits.md': (text) => between(text, limitsMarkdown()),
  'docs/guides/models.md': (text) => filled(text, 'vendors', vendorsMarkdown()),
  'docs/guides/operations.md': () =>
    withTable('docs/guides/operations.md', 'metrics', [
      '| name | type | label | counts |',
      '|---|---|---|---|',
      ...metricRows().map(({ name, type, label, help }) => `| \`${name}\` | ${type} | ${label} | ${help} |`),
    ]),
  'docs/README.md': () =>
    withTable('docs/README.md', 'dialects', [
      '| dialect | clients | |',
      '|---|---|---|',
      ...dialects.map(
        ({ name, title, summary }) =>
          `| [\`${name}\`](dialects/${name}.md) | ${title} | ${summary.replaceAll('<', '&lt;')} |`,
      ),
    ]),
  'packages/sdk/README.md': () => withTable('packages/sdk/README.md', 'events', eventReference()),
  'packages/protocol/README.md': () => withTable('packages/protocol/README.md', 'events', eventReference()),
  ...Object.fromEntries(dialects.map(dialectPage)),
};

/** The page of a dialect: its tables are generated; a missing page is created with them. */
function dialectPage(described: Described): [string, (text: string) => string] {
  const path = `docs/dialects/${described.name}.md`;
  const tables = Object.entries(referenceTables(described));
  const first = `# ${described.name}\n\n${described.summary}\n${tables
    .map(
      ([name]) =>
        `\n## ${HEADINGS[name]}\n\n<!-- ${name}: made by scripts/docs.ts -->\n<!-- end of ${name} -->\n`,
    )
    .join('')}`;
  const page = (text: string) =>
    tables.reduce((whole, [name, lines]) => filled(whole, name, lines), text || first);
  return [path, page];
}

/** The current file with a regenerated table between its two comments. */
function withTable(path: string, name: string, lines: readonly string[]): string {
  return filled(readFileSync(join(import.meta.dir, '..', path), 'utf8'), name, lines);
}

function filled(text: string, name: string, lines: readonly string[]): string {
  const [begin, end] = [`<!-- ${name}: made by scripts/docs.ts -->\n`, `<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (from < begin.length || to < from)
    throw new Error(`a page has no markers for ${name}: ${text.slice(0, 40)}`);
  return `${text.slice(0, from)}${lines.join('\n')}\n${text.slice(to)}`;
}

const check = process.argv.includes('--check');
for (const [path, make] of Object.entries(MADE)) {
  const file = Bun.file(join(import.meta.dir, '..', path));
  const before = (await file.exists()) ? await file.text() : '';
  const text = make(before);
  if (!check) await Bun.write(file, text);
  else if (before !== text) {
    console.error(`${path} is not up to date: run \`npm run docs\``);
    process.exitCode = 1;
  }
}
if (!check) {
  // Not in git: every server serves them.
  const { openApi, asyncApi } = await documentsOf(DIALECTS);
  await Bun.write(join(import.meta.dir, '../docs/openapi.json'), openApi);
  await Bun.write(join(import.meta.dir, '../docs/asyncapi.json'), asyncApi);
}
for (const problem of check ? documents().flatMap((path) => linkProblems(path)) : []) {
  console.error(problem);
  process.exitCode = 1;
}
